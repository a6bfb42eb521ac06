pub use ownvoice::burn;
