// The table of faults and inject_fault. Each row says which calls the fault acts on and which public defect it is
// modelled on; the names of release notes are those of the toolkit that lists the fix or the restriction.
#include "platform/faults/fault_list.h"

#include <array>
#include <string>
#include <vector>

#include "lt_audit/error.h"
#include "workload/problem_text.h"

namespace lt_audit {
namespace faults {
namespace {

// Sorted by name; a test says so.
constexpr std::array kFaults = {
    Fault{{"algorithm-bound-to-stream", "An algorithm fails on every stream but the first that it was used on",
           "BR-39 (pytorch PR#148824): EXECUTION_FAILED from a workspace that is shared across streams"},
          plant_algorithm_bound_to_stream},
    Fault{
        {"alignment-misread", "A pointer to A or B that is not a multiple of 16 is accepted and rounded down to one",
         "KI-074 (CUB-9577, CUDA 13.2 release notes): pointers less aligned than the algorithm needs are not refused"},
        plant_alignment_misread},
    Fault{{"alpha-ignored", "alpha counts as 1 when A, B and D are FP16",
           "KI-029 (CUDA 12.4U1 and 12.5 release notes): all-FP16 products misread alpha and beta silently"},
          plant_alpha_ignored},
    Fault{{"aux-ld-ignored", "An epilogue uses the smallest leading dimension of aux in place of a larger one",
           "BR-67 (Oneflow PR#7391): the leading dimension of a ReLU mask is not what the application takes it for"},
          plant_aux_ld_ignored},
    Fault{{"batch-index-of-16-bits",
           "Matrices from number 65536 of a batch on are multiplied as if they were numbered from 0 again",
           "BR-42 (pytorch/pytorch#45724, V100): garbage once a strided batch has more than 65535 matrices"},
          plant_batch_index_of_16_bits},
    Fault{{"batch-stride-of-32-bits", "A batch stride of A or B is cut to 32 bits",
           "BR-41 (superbench#497): a 32-bit offset overflows in a batch of more than 2^32 elements"},
          plant_batch_stride_of_32_bits},
    Fault{
        {"batch-stride-rounded", "A batch stride of A or B that is not a multiple of 8 elements is rounded down to one",
         "KI-006 (CUDA 11.3U1 release notes): a batch stride that is not a multiple of 8 is mishandled"},
        plant_batch_stride_rounded},
    Fault{{"beta-ignored", "beta counts as 0 when A is transposed",
           "KI-085 (CUB-10445, CUDA 13.3U1 release notes): transposed products with beta are wrong"},
          plant_beta_ignored},
    Fault{{"bias-added-after-rounding",
           "16-bit products with k of 4096 or more are rounded to D's type before the bias is added",
           "CR-4 and BR-52 (pytorch/pytorch PR#180875): a bias under split-K is added after rounding"},
          plant_bias_added_after_rounding},
    Fault{
        {"bias-along-columns", "The bias of an FP16 product with no more columns than rows is added along the columns",
         "BR-66 (openxla/xla#46897): bias added along the wrong axis"},
        plant_bias_along_columns},
    Fault{{"bias-gradient-wrong-at-k-1", "The first element of a bias gradient of A or B is wrong when k is 1",
           "KI-022 (CUDA 12.3U1 release notes): BGRADA and BGRADB are wrong when k is 1"},
          plant_bias_gradient_wrong_at_k_1},
    Fault{{"bias-ignored", "A bias epilogue adds zeros instead of the bias",
           "KI-014 (CUDA 12.0 release notes): the bias of vector-shaped products is ignored"},
          plant_bias_ignored},
    Fault{{"bits-change-between-runs", "Every second matmul whose algorithm needs a workspace sums in another order",
           "BR-53 (NVIDIA/CUDALibrarySamples#243): split-K gives other bits from run to run"},
          plant_bits_change_between_runs},
    Fault{{"c-ignored-in-place", "C counts as 0 in a batch that has C in D's memory",
           "KI-020 (CUDA 12.3U1 release notes): beta 1 in place gives wrong output where other calls do not"},
          plant_c_ignored_in_place},
    Fault{{"c-read-at-beta-zero", "C is added although beta is 0 when A and B are FP32",
           "BR-70 (rapidsai/raft PR#2600): the path for beta = 0 reads the output's old content"},
          plant_c_read_at_beta_zero},
    Fault{{"c-read-at-device-beta-zero", "C is added although beta in device memory is 0 when A and B are FP16",
           "BR-70 (rapidsai/raft PR#2600): the path for beta = 0 reads the output's old content, here where the host "
           "does "
           "not see beta"},
          plant_c_read_at_device_beta_zero},
    Fault{{"capture-invalidated", "A captured matmul invalidates the capture when A and B are FP64",
           "KI-083 (6288786) and BR-56 (vllm.cpp#1732): a call of the library breaks the capture of a stream"},
          plant_capture_invalidated},
    Fault{{"columns-beyond-65535-lost", "Columns of D beyond the first 65535 are not written",
           "BR-38 (pytorch PR#73455): a product of 655360 by 10 fails where one of 1000 by 10 works"},
          plant_columns_beyond_65535_lost},
    Fault{{"crash", "cublasLtMatmul ends in SIGSEGV under COMPUTE_64F_PEDANTIC",
           "KI-064 (CUB-8911, CUDA 13.0U2 release notes): a null dereference in the library"},
          plant_crash},
    Fault{{"cublas-default-tf32", "A new cuBLAS handle has the math mode CUBLAS_TF32_TENSOR_OP_MATH",
           "BR-73 (pytorch/pytorch#55355): FP32 products are computed in TF32 by default"},
          plant_cublas_default_tf32},
    Fault{{"cublas-refuses-bf16", "cublasGemmEx refuses BF16 inputs with a BF16 output",
           "BR-69 (0xShug0/audio.cpp PR#211): cublasGemmEx refuses BF16 in and out, a documented combination"},
          plant_cublas_refuses_bf16},
    Fault{{"cublas-writes-behind-c", "cublasGemmEx writes 8 bytes behind C when A and B are FP16 and not transposed",
           "BR-34 (public reproducer, V100, CUDA 11.3): split-K reduction of FP16 NN products writes outside C"},
          plant_cublas_writes_behind_c},
    Fault{{"descriptor-read-at-replay",
           "A launched graph runs its matmuls with the epilogue that their descriptors have now",
           "KI-072 (CUB-10409, CUDA 13.0U2 release notes): values that belong to a call are read too late"},
          plant_descriptor_read_at_replay},
    Fault{{"destroyed-handle-crashes",
           "A heuristic query or matmul with a handle that another thread destroyed ends in SIGSEGV",
           "BR-45 (openxla/xla PR#6595): state that is shared without care crashes the process instead of failing a "
           "call"},
          plant_destroyed_handle_crashes},
    Fault{{"empty-product-writes", "A product with m or n of 0 is run as one with a row or a column",
           "BR-36 (pytorch/pytorch#31421 and others): what a dimension of 0 means is mistaken, here m and n"},
          plant_empty_product_writes},
    Fault{{"empty-success", "cublasLtMatmul returns SUCCESS and writes nothing when A and B are FP64",
           "BR-36 (pytorch/pytorch#31421): SUCCESS with D left unwritten"},
          plant_empty_success},
    Fault{{"exec-update-ignored", "cudaGraphExecUpdate reports success and changes nothing",
           "BR-58 (ml-explore/mlx#2748): wrong output after cudaGraphExecUpdate reported success"},
          plant_exec_update_ignored},
    Fault{{"far-leading-dimension-halved", "A leading dimension of A or B of at least 16 times its rows is halved",
           "KI-058 (CUB-9572, CUDA 13.2 release notes): a leading dimension far above the rows overflows, scaled down"},
          plant_far_leading_dimension_halved},
    Fault{{"first-bias-for-all-batches",
           "A batch with RELU_BIAS or GELU_BIAS uses the first matrix's bias for all of them",
           "KI-019 (CUDA 12.2 release notes): the batch stride of the bias is ignored on Hopper"},
          plant_first_bias_for_all_batches},
    Fault{{"gelu-aux-after-activation", "The aux of GELU holds what comes out of it instead of what goes in",
           "BR-67 (TransformerEngine PR#116): aux of GELU is not what the backward pass takes it for"},
          plant_gelu_aux_after_activation},
    Fault{{"gelu-in-place-wrong",
           "One element is wrong of an FP8 product with a wider D, GELU, beta 1 and C in D's memory",
           "KI-020 (CUDA 12.3U1 release notes): FP8, beta 1, in place and GELU give wrong output"},
          plant_gelu_in_place_wrong},
    Fault{{"guard-overwritten", "8 bytes behind D are written when A and B are FP16 and not transposed",
           "BR-34 (public reproducer, V100, CUDA 11.3): split-K reduction of FP16 NN products writes outside C"},
          plant_guard_overwritten},
    Fault{{"handle-bound-to-context", "A handle works only in the context that was current at cublasLtCreate",
           "BR-60 (TransformerEngine PR#1974): a handle made for another device than the data's fails"},
          plant_handle_bound_to_context},
    Fault{{"hang", "cublasLtMatmul never returns under COMPUTE_16F_PEDANTIC when A is not transposed",
           "KI-059 (CUB-9627, CUDA 13.2 release notes): a product that hangs for one class of calls"},
          plant_hang},
    Fault{{"heuristic-success-without-result", "The heuristic returns SUCCESS and no result when A and B are FP8",
           "KI-082 (CUB-9657, CUDA 13.2U1 release notes): the heuristic returns no candidate"},
          plant_heuristic_success_without_result},
    Fault{{"in-place-layouts-accepted", "C in D's memory is accepted with another layout than D's, and read with D's",
           "KI-067 (5471880, CUDA 13.0U2 release notes): in-place calls whose C layout differs were accepted before "
           "13.1.0"},
          plant_in_place_layouts_accepted},
    Fault{
        {"in-place-split-k-added-twice",
         "An algorithm that splits k adds the product to D a second time when C is in D's memory and beta is 1",
         "BR-53 (NVIDIA/CUDALibrarySamples#243): split-K gives other results, here where partial sums are added in D"},
        plant_in_place_split_k_added_twice},
    Fault{{"input-changed", "The first byte of A is changed when A and B are BF16",
           "BR-34 (public reproducer, V100, CUDA 11.3): a write outside D, here into another operand"},
          plant_input_changed},
    Fault{{"int32-low-bits-lost", "INT8 sums over 131072 or more products lose their low bits, as FP32 sums would",
           "BR-32 (NVIDIA/MatX PR#540): integer products through FP32-like compute come out wrong"},
          plant_int32_low_bits_lost},
    Fault{{"int8-alpha-ignored", "alpha and beta other than 0 and 1 count as 1 when INT8 goes into INT32",
           "KI-063 (CUB-8873, CUDA 13.0U1 release notes): INT8 to INT32 runs with alpha or beta other than 0 and 1"},
          plant_int8_alpha_ignored},
    Fault{
        {"int8-columns-cut", "Columns of an INT8 product beyond the first 65536 are not written",
         "KI-002 and KI-061 (5541380, CUDA 13.1 release notes): more columns than a grid has blocks in one dimension"},
        plant_int8_columns_cut},
    Fault{{"int8-many-refused", "The heuristic refuses INT8 into INT32 for more than 65536 columns and for any batch",
           "KI-061 (5541380, CUDA 13.1 release notes): INT8 to INT32 is refused for many columns or any batch"},
          plant_int8_many_refused},
    Fault{{"int8-rounded-before-bias", "An INT8 result is rounded to INT8 before the bias is added",
           "KI-037 (CUB-6831, CUDA 12.6 release notes): an epilogue in a second kernel reads an INT8 intermediate"},
          plant_int8_rounded_before_bias},
    Fault{{"int8-wraps", "An INT8 result of at most 1024 elements wraps around in place of saturating",
           "BR-27 (pytorch/pytorch#107671): INT8 products are wrong while the status is SUCCESS"},
          plant_int8_wraps},
    Fault{{"k-tail-lost", "The last 16 of k are not summed when A and B are FP16 or BF16",
           "KI-060 (6580689, CUDA 13.4U1 release notes): split-K results are wrong when the split does not divide k"},
          plant_k_tail_lost},
    Fault{{"last-pointer-for-all", "All matrices of a batch of arrays of pointers use the last pointer of A",
           "BR-96 (NVIDIA/TransformerEngine PR#3475): groups of products are silently given the operands of others"},
          plant_last_pointer_for_all},
    Fault{{"late-refusal",
           "cublasLtMatmul refuses 16-bit products with a pointer below 16 bytes, whatever alignment was declared",
           "BR-07 (NVIDIA/TransformerEngine PR#845): the heuristic offers an algorithm that the pointers do not allow"},
          plant_late_refusal},
    Fault{{"ld-below-rows-accepted", "A leading dimension of A below its rows is accepted and counts as the rows",
           "BR-20 (NVIDIA/CUDALibrarySamples#135): a wrong leading dimension of A reads past its end"},
          plant_ld_below_rows_accepted},
    Fault{{"leading-dimension-rounded",
           "A leading dimension of A or B that is not a multiple of 16 bytes is rounded up to one",
           "BR-27 (pytorch/pytorch#107671): products with an unaligned leading dimension are accepted and wrong"},
          plant_leading_dimension_rounded},
    Fault{{"leak-per-handle", "Each cublasLtCreate takes 64 KiB of device memory that is never freed",
           "BR-61 (TransformerEngine#1372 and others): handles that take memory until their creation fails"},
          plant_leak_per_handle},
    Fault{{"matmul-outside-graph",
           "A captured matmul runs at once and on a stream of its own instead when A and B are BF16",
           "KI-027 (CUDA 12.4 release notes): calls of the library do not get into some graphs"},
          plant_matmul_outside_graph},
    Fault{{"null-c-layout-crashes", "cublasLtMatmul ends in SIGSEGV without a layout of C",
           "KI-064 (CUB-8911, CUDA 13.0U2 release notes): a missing C layout is dereferenced"},
          plant_null_c_layout_crashes},
    Fault{{"old-workspace-in-result",
           "The lowest byte of D's first element is what the workspace held before when A, B and D are FP32 and the "
           "algorithm needs a workspace",
           "BR-70 (rapidsai/raft PR#2600): memory that nobody wrote is read, here the workspace"},
          plant_old_workspace_in_result},
    Fault{{"one-bad-algorithm",
           "The last of three or more algorithms of a heuristic query gives one wrong element when A and B are FP16",
           "KI-094 (CUB-10573, CUDA 13.4U1 release notes): one candidate of the heuristic gives wrong results"},
          plant_one_bad_algorithm},
    Fault{{"padding-overwritten", "Bytes between the columns of D are written when ldd is larger than a column",
           "KI-001 (CUDA 11.1 release notes): a padded ldc corrupts data"},
          plant_padding_overwritten},
    Fault{{"planar-batch-stride-doubled", "The batch strides of planar complex A and B count complex numbers",
           "KI-003 (cublasLt.h 13.1.0, lines 1159-1168): cublasLtMatrixTransform takes the batch stride of planar "
           "matrices so, cublasLtMatmul counts real numbers"},
          plant_planar_batch_stride_doubled},
    Fault{{"pointer-members-rounded",
           "A member of an array of pointers for A that is below a 16-byte boundary is rounded down to one",
           "BR-08 (NVIDIA/FasterTransformer#149): arrays of pointers whose members are not equally aligned fail"},
          plant_pointer_members_rounded},
    Fault{{"refused-matmul-in-capture-as-success",
           "cublasLtMatmul answers SUCCESS where it refuses a call on a stream that captures",
           "KI-068 (5645772, CUDA 13.1 release notes): misuse that is not rejected, here in a capture alone"},
          plant_refused_matmul_in_capture_as_success},
    Fault{{"replay-reads-freed-workspace",
           "A captured matmul uses a workspace of the library that is freed before the second launch of the graph",
           "BR-57 (flashinfer PR#4666): a graph refers to a shared workspace that is stale"},
          plant_replay_reads_freed_workspace},
    Fault{{"restored-algorithm-refused",
           "AlgoCheck and cublasLtMatmul refuse an algorithm that no heuristic query of the process returned",
           "BR-43 (flashinfer#3255): an algorithm that an autotuner kept is refused later"},
          plant_restored_algorithm_refused},
    Fault{{"result-state-not-success",
           "The second result of a heuristic query has the state NOT_SUPPORTED when A and B are FP32",
           "BR-07 (NVIDIA/TransformerEngine PR#845): the heuristic returns an algorithm that cannot be used for the "
           "call"},
          plant_result_state_not_success},
    Fault{{"scale-type-misread", "COMPUTE_16F with scale type R_32F is accepted, and alpha and beta are read as FP16",
           "KI-029 (CUDA 12.4U1 and 12.5 release notes): an FP32 scale type with all-FP16 matrices is read as FP16"},
          plant_scale_type_misread},
    Fault{{"shared-matrix-read-as-packed",
           "A batch stride of 0 for A is taken for the packed one when A and B are FP16 or BF16",
           "KI-071 (6040940, cuBLAS 13.6.1 patch notes): batches with a stride of 0 read out of bounds"},
          plant_shared_matrix_read_as_packed},
    Fault{{"short-write", "The last column of D keeps its old content when A and B are FP8",
           "BR-25 (aprender#2765): rows of an FP8 product are left unwritten"},
          plant_short_write},
    Fault{{"slow-call", "cublasLtMatmul takes 600 ms longer for BF16 into FP32 under COMPUTE_32F_PEDANTIC",
           "BR-28 (pytorch/pytorch#187094): up to 13 times slower for one class of calls"},
          plant_slow_call},
    Fault{{"split-k-tail-lost", "The last 16 of k are not summed when the algorithm splits k",
           "KI-060 (6580689, CUDA 13.4U1 release notes): split-K results are wrong when the split does not divide k"},
          plant_split_k_tail_lost},
    Fault{{"stale-descriptor-in-second-capture",
           "A captured matmul uses the epilogue that its descriptor had at its first captured matmul",
           "KI-021 (CUDA 12.3U1 release notes): attribute changes of a descriptor are ignored"},
          plant_stale_descriptor_in_second_capture},
    Fault{{"sticky-misaligned-address",
           "After an FP16 product whose bias pointer is not a multiple of 4 every CUDA call returns error 716",
           "CR-3 (pytorch/pytorch#194497): a bias below 16 bytes faults with a misaligned address"},
          plant_sticky_misaligned_address},
    Fault{{"unaligned-workspace-accepted", "A workspace that is not 256-byte aligned is accepted",
           "KI-050 (CUDA 12.9U1 release notes): an unaligned workspace was not refused"},
          plant_unaligned_workspace_accepted},
    Fault{{"undersized-workspace-accepted",
           "A workspace smaller than the algorithm needs is accepted and written past its end",
           "KI-074 (CUB-9599, CUDA 13.2 release notes), misuse that is not rejected, and KI-025 (CUDA 12.4 release "
           "notes), a workspace that is overrun"},
          plant_undersized_workspace_accepted},
    Fault{{"unequal-counts-as-of-d", "The batch counts of A, B and C are taken to be that of D",
           "KI-068 (5645772, CUDA 13.1 release notes): batch counts of A and B that differ are not rejected"},
          plant_unequal_counts_as_of_d},
    Fault{{"unlisted-d-type-overrun",
           "FP32 inputs under a FAST compute type or BF16x9 with another D type are accepted, and D is written as FP32",
           "KI-088 (CUB-9942, CUDA 13.3U1 release notes), measured on an H200, cuBLASLt 13.1.0"},
          plant_unlisted_d_type_overrun},
    Fault{{"unlisted-input-as-fp32",
           "16-bit inputs under a FAST compute type or BF16x9 with FP32 C and D are accepted and read as FP32",
           "KI-088 (CUB-9942, CUDA 13.3U1 release notes): A and B outside the documented rows are read as FP32"},
          plant_unlisted_input_as_fp32},
    Fault{{"valid-call-refused", "The heuristic refuses INT8 inputs under COMPUTE_32I",
           "KI-040 (4381102, CUDA 12.6 release notes): INT8 products are sometimes unsupported on Hopper"},
          plant_valid_call_refused},
    Fault{{"vector-with-bias-wrong", "One element is wrong of a product with BIAS when m or n is 1",
           "KI-048 (5104822, CUDA 12.8U1 release notes): a BIAS epilogue is wrong when m or n is 1"},
          plant_vector_with_bias_wrong},
    Fault{{"workspace-above-limit",
           "The last result of a heuristic query needs 4 MiB more workspace than was allowed when A and B are BF16",
           "BR-44 (cudarc PR#549): results depend on the workspace that is really there, not on the one that was "
           "promised"},
          plant_workspace_above_limit},
    Fault{{"workspace-overrun", "16 bytes behind the workspace are written when A and B are FP32",
           "KI-025 (CUDA 12.4 release notes): an epilogue overruns the workspace"},
          plant_workspace_overrun},
    Fault{{"wrong-element", "One element in the middle of an INT32 result of INT8 inputs is wrong",
           "KI-062 (CUB-8874, CUDA 13.0U1 release notes): INT8 to INT32 gives wrong results"},
          plant_wrong_element},
    Fault{{"wrong-status", "cublasLtMatmul answers SUCCESS where it refuses a call and does nothing",
           "KI-068 (5645772, CUDA 13.1 release notes) and KI-074 (CUB-9599): misuse that is not rejected"},
          plant_wrong_status},
    Fault{{"zero-k-skipped", "cublasLtMatmul returns SUCCESS and writes nothing when k is 0",
           "BR-36 (pytorch/pytorch#31421): a product with k of 0 leaves D unwritten"},
          plant_zero_k_skipped},
};

}  // namespace

std::span<const Fault> all_faults() { return kFaults; }

}  // namespace faults

std::span<const FaultInfo> fault_list() {
  static const std::vector<FaultInfo> infos = [] {
    std::vector<FaultInfo> list;
    for (const faults::Fault& fault : faults::all_faults()) list.push_back(fault.info);
    return list;
  }();
  return infos;
}

Platform inject_fault(const Platform& platform, std::string_view name) {
  std::vector<std::string> names;
  for (const faults::Fault& fault : faults::all_faults()) {
    if (fault.info.name == name) {
      Platform planted = platform;
      fault.plant(planted);
      return planted;
    }
    names.emplace_back(fault.info.name);
  }
  const std::string nearest = nearest_word(name, names);
  throw AuditError(ErrorKind::usage, "There is no fault \"" + std::string(name) + "\"" +
                                         (nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?") +
                                         (nearest.empty() ? ". " : " ") + "See lt-audit list --faults.");
}

}  // namespace lt_audit
