// SPDX-License-Identifier: Apache-2.0
// BlockLSTMGradV2 by libbackgauge_cpu.so, from Rust: the same as block_lstm.c. The structs are those of backgauge.h.
//   rustc block_lstm.rs -L native=$(pkg-config --variable=libdir backgauge-cpu)
use std::alloc::{alloc, Layout};
use std::ffi::{c_char, c_void, CStr, CString};
use std::io::Write;

#[repr(C)]
struct Tensor { name: *const c_char, data: *mut c_void, shape: [i64; 8], rank: i32, dtype: i32, memory_space: i32, reserved: i32 }

#[repr(C)]
#[derive(Default)]
struct Attributes { use_peephole: i32, rnn_mode: i32, input_mode: i32, direction: i32, seed: i64, seed2: i64, dropout: f32, reserved: i32 }

#[repr(C)]
struct Call {
    struct_size: u32, op: i32, dtype: i32, memory_space: i32, attributes: Attributes, inputs: *const Tensor, outputs: *const Tensor,
    num_inputs: i32, num_outputs: i32, workspace: *mut c_void, workspace_bytes: u64, num_threads: i32, reserved: i32, stream: *mut c_void,
}

#[repr(C)]
#[derive(Default)]
struct Plan { struct_size: u32, workspace_alignment: u32, workspace_bytes: u64, reserve_space_length: i64 }

type Message = [c_char; 512];

#[repr(C)]
struct Implementation {
    abi: u32, struct_size: u32, name: *const c_char, version: *const c_char, description: *const c_char, memory_space: i32,
    num_claims: i32, claims: *const c_void,
    prepare: extern "C" fn(*const Call, *mut Plan, *mut Message) -> i32,
    run: extern "C" fn(*const Call, *mut Message) -> i32,
}

#[link(name = "backgauge_cpu")]
extern "C" {
    fn backgauge_cpu() -> *const Implementation;
    fn backgauge_cpu_refusal() -> *const c_char;
}

const T: i64 = 5;
const B: i64 = 3;
const I: i64 = 4;
const H: i64 = 6;
const HOST: i32 = 1;
const FLOAT32: i32 = 2;
const INT64: i32 = 4;
const BLOCK_LSTM_GRAD_V2: i32 = 2;

fn elements(shape: &[i64]) -> usize { shape.iter().product::<i64>() as usize }

// The memory lives as long as the program.
fn tensor(name: &str, shape: &[i64], dtype: i32, data: *mut c_void) -> Tensor {
    let mut padded = [0; 8];
    padded[..shape.len()].copy_from_slice(shape);
    Tensor { name: CString::new(name).unwrap().into_raw(), data, shape: padded, rank: shape.len() as i32, dtype, memory_space: HOST, reserved: 0 }
}

fn floats(names: &str, shape: &[i64]) -> Vec<Tensor> {
    names.split(' ').map(|name| tensor(name, shape, FLOAT32, vec![0f32; elements(shape)].leak().as_mut_ptr().cast())).collect()
}

fn values(tensor: &Tensor) -> &mut [f32] {
    unsafe { std::slice::from_raw_parts_mut(tensor.data.cast(), elements(&tensor.shape[..tensor.rank as usize])) }
}

fn main() {
    let table = unsafe { backgauge_cpu().as_ref() }.unwrap_or_else(|| panic!("{:?}", unsafe { CStr::from_ptr(backgauge_cpu_refusal()) }));
    let mut seq_len_max = T;
    let mut inputs = vec![tensor("seq_len_max", &[], INT64, (&mut seq_len_max as *mut i64).cast())];
    inputs.extend(floats("x", &[T, B, I]));
    inputs.extend(floats("cs_prev h_prev", &[B, H]));
    inputs.extend(floats("w", &[I + H, 4 * H]));
    inputs.extend(floats("wci wcf wco", &[H]));
    inputs.extend(floats("b", &[4 * H]));
    inputs.extend(floats("i cs f o ci co h cs_grad h_grad", &[T, B, H]));
    for (n, input) in inputs.iter().enumerate().skip(1) {
        for (k, value) in values(input).iter_mut().enumerate() { *value = ((k * 7 + n * 5) % 31 + 1) as f32 / 64.0; }
    }
    let shapes: [(&str, &[i64]); 5] = [("x_grad", &[T, B, I]), ("cs_prev_grad h_prev_grad", &[B, H]), ("w_grad", &[I + H, 4 * H]),
                                       ("wci_grad wcf_grad wco_grad", &[H]), ("b_grad", &[4 * H])];
    let outputs: Vec<Tensor> = shapes.iter().flat_map(|(names, shape)| floats(names, shape)).collect();
    let mut call = Call {
        struct_size: std::mem::size_of::<Call>() as u32, op: BLOCK_LSTM_GRAD_V2, dtype: FLOAT32, memory_space: HOST,
        attributes: Attributes { use_peephole: 1, ..Default::default() }, inputs: inputs.as_ptr(), outputs: outputs.as_ptr(),
        num_inputs: inputs.len() as i32, num_outputs: outputs.len() as i32, workspace: std::ptr::null_mut(), workspace_bytes: 0,
        num_threads: 2, reserved: 0, stream: std::ptr::null_mut(),
    };
    let (mut message, mut plan) = ([0; 512], Plan { struct_size: std::mem::size_of::<Plan>() as u32, ..Default::default() });
    let check = |status: i32, message: &Message| assert!(status == 0, "{:?}", unsafe { CStr::from_ptr(message.as_ptr()) });
    check((table.prepare)(&call, &mut plan, &mut message), &message);
    call.workspace_bytes = plan.workspace_bytes.max(1);
    let layout = Layout::from_size_align(call.workspace_bytes as usize, plan.workspace_alignment.max(1) as usize).unwrap();
    call.workspace = unsafe { alloc(layout) }.cast();
    check((table.run)(&call, &mut message), &message);
    for output in &outputs {
        for value in values(output) { std::io::stdout().write_all(&value.to_ne_bytes()).unwrap(); }
    }
}
