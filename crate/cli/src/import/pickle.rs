//! Reads the instructions of Python's pickle format that `torch.save` writes, as data. No callable is ever called: those that make tensors and dictionaries are
//! recognised by name, and any other results in [`Value::Other`].

use std::collections::HashMap;

/// An index into [`Pickle::values`]. Containers hold indices, so that shared values are never copied.
pub type Index = usize;

/// A value of a pickle.
#[derive(Debug, Clone)]
pub enum Value {
    /// A value that a reader of tensors does not need, such as a float or an object.
    Other,
    Int(i64),
    Text(String),
    /// The name of a class or function, `module name`.
    Global(String),
    /// A tuple or a list.
    Sequence(Vec<Index>),
    Dict(Vec<(Index, Index)>),
    /// A reference to an object outside of the pickle; in PyTorch a tuple that names a storage.
    Persistent(Index),
    /// The arguments of `torch._utils._rebuild_tensor_v2`.
    Tensor(Index),
}

/// The maximum number of instructions, ten times that of a checkpoint with optimizer state. It bounds the memory, because a byte may create a value of 40 bytes.
const MAX_INSTRUCTIONS: usize = 1 << 18;

/// A parsed pickle.
#[derive(Debug, Default)]
pub struct Pickle {
    pub values: Vec<Value>,
    pub root: Index,
}

impl Pickle {
    /// Parses the pickle at the start of `bytes`, and moves `bytes` past it.
    pub fn read(bytes: &mut &[u8]) -> Result<Self, String> {
        let mut machine = Machine {
            pickle: Pickle::default(),
            bytes,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
        };
        let mut instructions = 0;
        while machine.step()? {
            instructions += 1;
            if instructions == MAX_INSTRUCTIONS {
                return Err(format!("the pickle has more than {MAX_INSTRUCTIONS} instructions"));
            }
        }
        machine.pickle.root = machine.pop()?;
        Ok(machine.pickle)
    }

    pub fn sequence(&self, index: Index) -> Option<&[Index]> {
        if let Value::Sequence(items) = &self.values[index] { Some(items) } else { None }
    }

    pub fn int(&self, index: Index) -> Option<i64> {
        if let Value::Int(value) = self.values[index] { Some(value) } else { None }
    }

    /// Returns a sequence of non-negative integers.
    pub fn sizes(&self, index: Index) -> Option<Vec<usize>> {
        self.sequence(index)?.iter().map(|&item| usize::try_from(self.int(item)?).ok()).collect()
    }

    pub fn text(&self, index: Index) -> Option<&str> {
        if let Value::Text(text) = &self.values[index] { Some(text) } else { None }
    }

    /// Returns the value of a key in a dictionary.
    #[cfg(test)]
    fn get(&self, dict: Index, key: &str) -> Option<Index> {
        let Value::Dict(entries) = &self.values[dict] else { return None };
        entries.iter().find(|(name, _)| self.text(*name) == Some(key)).map(|(_, value)| *value)
    }
}

/// The stack machine that a pickle is a program for.
struct Machine<'a, 'b> {
    pickle: Pickle,
    bytes: &'a mut &'b [u8],
    stack: Vec<Index>,
    /// The heights of the stack at the marks.
    marks: Vec<usize>,
    memo: HashMap<usize, Index>,
}

impl<'b> Machine<'_, 'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], String> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or("the pickle ends too early")?;
        *self.bytes = rest;
        Ok(taken)
    }

    /// Reads a little-endian number of up to eight bytes.
    fn number(&mut self, bytes: usize) -> Result<usize, String> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    fn line(&mut self) -> Result<String, String> {
        let length = self.bytes.iter().position(|byte| *byte == b'\n').ok_or("the pickle ends too early")?;
        let line = String::from_utf8_lossy(self.take(length)?).into_owned();
        self.take(1)?;
        Ok(line)
    }

    fn text(&mut self, length_bytes: usize) -> Result<(), String> {
        let length = self.number(length_bytes)?;
        let text = String::from_utf8_lossy(self.take(length)?).into_owned();
        self.push(Value::Text(text));
        Ok(())
    }

    fn push(&mut self, value: Value) {
        self.stack.push(self.pickle.values.len());
        self.pickle.values.push(value);
    }

    fn pop(&mut self) -> Result<Index, String> {
        self.stack.pop().ok_or_else(|| "the pickle pops from an empty stack".into())
    }

    fn top(&self) -> Result<Index, String> {
        self.stack.last().copied().ok_or_else(|| "the pickle pops from an empty stack".into())
    }

    fn since_mark(&mut self) -> Result<Vec<Index>, String> {
        let height = self.marks.pop().filter(|height| *height <= self.stack.len());
        Ok(self.stack.split_off(height.ok_or("the pickle pops from an empty stack")?))
    }

    fn tuple(&mut self, count: usize) -> Result<(), String> {
        let height = self.stack.len().checked_sub(count).ok_or("the pickle pops from an empty stack")?;
        let items = self.stack.split_off(height);
        self.push(Value::Sequence(items));
        Ok(())
    }

    fn append(&mut self, items: Vec<Index>) -> Result<(), String> {
        let list = self.top()?;
        if let Value::Sequence(all) = &mut self.pickle.values[list] {
            all.extend(items);
        }
        Ok(())
    }

    fn insert(&mut self, items: Vec<Index>) -> Result<(), String> {
        let dict = self.top()?;
        if let Value::Dict(entries) = &mut self.pickle.values[dict] {
            entries.extend(items.chunks_exact(2).map(|pair| (pair[0], pair[1])));
        }
        Ok(())
    }

    /// Pushes the result of a known callable, or [`Value::Other`].
    fn reduce(&mut self) -> Result<(), String> {
        let (arguments, callable) = (self.pop()?, self.pop()?);
        let name = if let Value::Global(name) = &self.pickle.values[callable] { name.as_str() } else { "" };
        match (name, self.pickle.sequence(arguments)) {
            ("torch._utils _rebuild_tensor_v2", _) => self.push(Value::Tensor(arguments)),
            ("torch._utils _rebuild_parameter", Some(&[tensor, ..])) => self.stack.push(tensor),
            ("collections OrderedDict", _) => self.push(Value::Dict(Vec::new())),
            _ => self.push(Value::Other),
        }
        Ok(())
    }

    /// Runs one instruction. Returns false after the last one.
    fn step(&mut self) -> Result<bool, String> {
        match self.take(1)?[0] {
            b'.' => return Ok(false),
            0x80 => {
                self.take(1)?;
            }
            b'(' => self.marks.push(self.stack.len()),
            b'N' | 0x88 | 0x89 => self.push(Value::Other),
            b'G' => {
                self.take(8)?;
                self.push(Value::Other);
            }
            b'J' => {
                let value = self.number(4)? as u32 as i32;
                self.push(Value::Int(value.into()));
            }
            width @ (b'K' | b'M') => {
                let value = self.number(if width == b'K' { 1 } else { 2 })?;
                self.push(Value::Int(value as i64));
            }
            0x8a => {
                let length = self.number(1)?;
                let bytes = self.take(length)?;
                let sign = if bytes.last().is_some_and(|byte| byte & 0x80 != 0) { -1 } else { 0 };
                let value = bytes.iter().rev().fold(sign, |value: i64, byte| value << 8 | i64::from(*byte));
                self.push(if length <= 8 { Value::Int(value) } else { Value::Other });
            }
            b'X' | b'T' => self.text(4)?,
            0x8c | b'U' => self.text(1)?,
            b'c' => {
                let name = format!("{} {}", self.line()?, self.line()?);
                self.push(Value::Global(name));
            }
            // A frame of protocol 4, which is only a hint for reading.
            0x95 => {
                self.take(8)?;
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let text = |index: Index| self.pickle.text(index).unwrap_or_default();
                let global = Value::Global(format!("{} {}", text(module), text(name)));
                self.push(global);
            }
            0x94 => {
                let top = self.top()?;
                self.memo.insert(self.memo.len(), top);
            }
            b']' | b')' => self.push(Value::Sequence(Vec::new())),
            b'}' => self.push(Value::Dict(Vec::new())),
            b't' | b'l' => {
                let items = self.since_mark()?;
                self.push(Value::Sequence(items));
            }
            count @ 0x85..=0x87 => self.tuple(usize::from(count - 0x84))?,
            b'a' => {
                let item = self.pop()?;
                self.append(vec![item])?;
            }
            b'e' => {
                let items = self.since_mark()?;
                self.append(items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.insert(vec![key, value])?;
            }
            b'u' => {
                let items = self.since_mark()?;
                self.insert(items)?;
            }
            width @ (b'q' | b'r') => {
                let slot = self.number(if width == b'q' { 1 } else { 4 })?;
                let top = self.top()?;
                self.memo.insert(slot, top);
            }
            width @ (b'h' | b'j') => {
                let slot = self.number(if width == b'h' { 1 } else { 4 })?;
                self.stack.push(
                    *self.memo.get(&slot).ok_or("the pickle reads a memo entry that it did not store")?,
                );
            }
            b'Q' => {
                let id = self.pop()?;
                self.push(Value::Persistent(id));
            }
            b'R' | 0x81 => self.reduce()?,
            // Discards the top of the stack, which for `b` is the state of an object.
            b'0' | b'b' => {
                self.pop()?;
            }
            other => {
                return Err(format!(
                    "the pickle has the instruction {other:#04x}, which PyTorch does not write"
                ));
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pickle_with_too_many_instructions_is_refused() {
        let bytes = vec![b']'; MAX_INSTRUCTIONS];
        assert!(Pickle::read(&mut &bytes[..]).unwrap_err().contains("instructions"));
    }

    #[test]
    fn a_dictionary_is_parsed() {
        // pickle.dumps({"a": (1, -2, 70000), "b": ["c"]}, protocol=2)
        let bytes = b"\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01K\x01J\xfe\xff\xff\xffJp\x11\x01\x00\x87q\x02X\x01\x00\x00\x00bq\x03]q\x04X\x01\x00\x00\x00cq\x05au.";
        let mut rest = &bytes[..];
        let pickle = Pickle::read(&mut rest).unwrap();
        assert!(rest.is_empty());
        let numbers = pickle.sequence(pickle.get(pickle.root, "a").unwrap()).unwrap();
        assert_eq!(
            numbers.iter().map(|&index| pickle.int(index)).collect::<Vec<_>>(),
            [Some(1), Some(-2), Some(70_000)]
        );
        let texts = pickle.sequence(pickle.get(pickle.root, "b").unwrap()).unwrap();
        assert_eq!(pickle.text(texts[0]), Some("c"));
        for length in 0..bytes.len() {
            assert!(Pickle::read(&mut &bytes[..length]).is_err(), "{length} bytes");
        }
    }

    /// Each list contains the previous one twice, which would make 2^40 copies.
    #[test]
    fn shared_values_are_not_copied() {
        let mut bytes = b"]q\0".to_vec();
        for _ in 0..40 {
            bytes.extend(b"]q\x01(h\0h\0eq\0");
        }
        bytes.push(b'.');
        assert_eq!(Pickle::read(&mut bytes.as_slice()).unwrap().values.len(), 41);
    }
}
