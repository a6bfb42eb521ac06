//! tmp
use super::symbols::Symbol;
use crate::Result;
#[derive(Debug)]
pub struct Letters;
impl Letters {
    pub fn fit(_: &[(String, Vec<Symbol>)]) -> Self {
        Self
    }
    pub fn save(&self) -> Vec<u8> {
        vec![]
    }
    pub fn load(_: &[u8]) -> Result<Self> {
        Ok(Self)
    }
}
impl Letters {
    pub fn read(&self, _w: &str) -> Vec<Symbol> {
        vec![super::symbols::id("AH0").unwrap()]
    }
}
