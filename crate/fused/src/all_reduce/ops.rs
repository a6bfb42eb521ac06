//! The sum as a backend operation.

#[cfg(not(target_arch = "wasm32"))]
use burn::{backend::DeviceOps, tensor::distributed::ReduceOperation};
use burn::{
    backend::{Backend, Flex, TensorMetadata, backend_extension, tensor::FloatTensor},
    tensor::TensorData,
};
#[cfg(feature = "cube")]
use burn_cubecl::CubeBackend;

use crate::ranks::Ranks;

/// The sum over ranks.
#[backend_extension(Flex, Cube: cfg(feature = "cube"), Autodiff)]
pub trait AllReduceOps: Backend {
    /// Returns the sum of `[N]` in f32 over all ranks. The devices compute it if they can sum tensors among themselves, otherwise the host does.
    fn sum_over_ranks(values: FloatTensor<Self>, ranks: Ranks) -> FloatTensor<Self>;
}

impl AllReduceOps for Flex {
    fn sum_over_ranks(values: FloatTensor<Self>, ranks: Ranks) -> FloatTensor<Self> {
        sum_over_ranks::<Self>(values, &ranks)
    }
}

#[cfg(feature = "cube")]
impl AllReduceOps for CubeBackend {
    fn sum_over_ranks(values: FloatTensor<Self>, ranks: Ranks) -> FloatTensor<Self> {
        sum_over_ranks::<Self>(values, &ranks)
    }
}

fn sum_over_ranks<B: Backend>(values: FloatTensor<B>, ranks: &Ranks) -> FloatTensor<B> {
    // A page has a single rank, so that the all-reduce between devices is left out of the WebAssembly.
    #[cfg(not(target_arch = "wasm32"))]
    if let Some(devices) = ranks.devices() {
        ranks.count(values.shape().num_elements());
        let ids = devices.iter().map(|device| device.as_dispatch().id()).collect();
        return B::all_reduce(values, ReduceOperation::Sum, ids).resolve();
    }
    let device = values.device();
    let data = pollster::block_on(B::float_into_data(values)).expect("the device answers");
    let shape = data.shape();
    let mut sums = data.try_to_vec::<f32>().expect("computed in f32");
    let _ = ranks.sum(&mut sums); // `Ranks::check` reports a failure.
    B::float_from_data(TensorData::new(sums, shape), &device)
}
