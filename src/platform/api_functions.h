// The members of the function tables, one line each: name in NVIDIA's spelling and names of the arguments. For
// decorators that treat all functions alike.
#pragma once

#include "lt_audit/platform.h"

namespace lt_audit {

/// Calls visit(function, name, argument names) for every function of the table. Argument names are separated by commas;
/// one with a leading * is a pointer that the function writes its result through.
template <class Visit>
void for_each_function(CudaApi& api, Visit visit) {
  visit(api.get_device_count, "cudaGetDeviceCount", "*count");
  visit(api.set_device, "cudaSetDevice", "device");
  visit(api.get_device, "cudaGetDevice", "*device");
  visit(api.get_device_facts, "cudaGetDeviceProperties", "*prop,device");
  visit(api.get_device_modes, "cudaDeviceGetAttribute", "*value,device");
  visit(api.driver_get_version, "cudaDriverGetVersion", "*driverVersion");
  visit(api.runtime_get_version, "cudaRuntimeGetVersion", "*runtimeVersion");
  visit(api.device_synchronize, "cudaDeviceSynchronize", "");
  visit(api.device_reset, "cudaDeviceReset", "");
  visit(api.get_last_error, "cudaGetLastError", "");
  visit(api.peek_at_last_error, "cudaPeekAtLastError", "");
  visit(api.mem_get_info, "cudaMemGetInfo", "*free,*total");
  visit(api.malloc, "cudaMalloc", "*devPtr,size");
  visit(api.free, "cudaFree", "devPtr");
  visit(api.malloc_host, "cudaMallocHost", "*ptr,size");
  visit(api.free_host, "cudaFreeHost", "ptr");
  visit(api.memcpy_async, "cudaMemcpyAsync", "dst,src,count,kind,stream");
  visit(api.memset_async, "cudaMemsetAsync", "devPtr,value,count,stream");
  visit(api.stream_create_with_flags, "cudaStreamCreateWithFlags", "*stream,flags");
  visit(api.stream_create_with_priority, "cudaStreamCreateWithPriority", "*stream,flags,priority");
  visit(api.device_get_stream_priority_range, "cudaDeviceGetStreamPriorityRange", "*leastPriority,*greatestPriority");
  visit(api.stream_destroy, "cudaStreamDestroy", "stream");
  visit(api.stream_synchronize, "cudaStreamSynchronize", "stream");
  visit(api.stream_wait_event, "cudaStreamWaitEvent", "stream,event");
  visit(api.event_create, "cudaEventCreate", "*event");
  visit(api.event_destroy, "cudaEventDestroy", "event");
  visit(api.event_record, "cudaEventRecord", "event,stream");
  visit(api.event_synchronize, "cudaEventSynchronize", "event");
  visit(api.event_elapsed_time, "cudaEventElapsedTime", "*ms,start,end");
  visit(api.stream_begin_capture, "cudaStreamBeginCapture", "stream,mode");
  visit(api.stream_end_capture, "cudaStreamEndCapture", "stream,*graph");
  visit(api.stream_is_capturing, "cudaStreamIsCapturing", "stream,*status");
  visit(api.graph_get_node_count, "cudaGraphGetNodes", "graph,*numNodes");
  visit(api.graph_instantiate, "cudaGraphInstantiate", "*graphExec,graph");
  visit(api.graph_launch, "cudaGraphLaunch", "graphExec,stream");
  visit(api.graph_exec_update, "cudaGraphExecUpdate", "graphExec,graph,*result");
  visit(api.graph_destroy, "cudaGraphDestroy", "graph");
  visit(api.graph_exec_destroy, "cudaGraphExecDestroy", "graphExec");
  visit(api.ctx_create, "cuCtxCreate", "*ctx,device");
  visit(api.ctx_destroy, "cuCtxDestroy", "ctx");
  visit(api.ctx_set_current, "cuCtxSetCurrent", "ctx");
  visit(api.ctx_get_current, "cuCtxGetCurrent", "*ctx");
}

template <class Visit>
void for_each_function(LtApi& api, Visit visit) {
  visit(api.create, "cublasLtCreate", "*handle");
  visit(api.destroy, "cublasLtDestroy", "handle");
  visit(api.get_version, "cublasLtGetVersion", "");
  visit(api.get_property, "cublasLtGetProperty", "type,*value");
  visit(api.matmul_desc_create, "cublasLtMatmulDescCreate", "*desc,computeType,scaleType");
  visit(api.matmul_desc_destroy, "cublasLtMatmulDescDestroy", "desc");
  visit(api.matmul_desc_set_attribute, "cublasLtMatmulDescSetAttribute", "desc,attr,buf,size");
  visit(api.matmul_desc_get_attribute, "cublasLtMatmulDescGetAttribute", "desc,attr,*buf,size,*sizeWritten");
  visit(api.matrix_layout_create, "cublasLtMatrixLayoutCreate", "*layout,type,rows,cols,ld");
  visit(api.matrix_layout_destroy, "cublasLtMatrixLayoutDestroy", "layout");
  visit(api.matrix_layout_set_attribute, "cublasLtMatrixLayoutSetAttribute", "layout,attr,buf,size");
  visit(api.matrix_layout_get_attribute, "cublasLtMatrixLayoutGetAttribute", "layout,attr,*buf,size,*sizeWritten");
  visit(api.matmul_preference_create, "cublasLtMatmulPreferenceCreate", "*pref");
  visit(api.matmul_preference_destroy, "cublasLtMatmulPreferenceDestroy", "pref");
  visit(api.matmul_preference_set_attribute, "cublasLtMatmulPreferenceSetAttribute", "pref,attr,buf,size");
  visit(api.matmul_algo_get_heuristic, "cublasLtMatmulAlgoGetHeuristic",
        "handle,desc,Adesc,Bdesc,Cdesc,Ddesc,pref,requested,results,*returned");
  visit(api.matmul_algo_check, "cublasLtMatmulAlgoCheck", "handle,desc,Adesc,Bdesc,Cdesc,Ddesc,algo,result");
  visit(api.matmul_algo_config_get_attribute, "cublasLtMatmulAlgoConfigGetAttribute",
        "algo,attr,*buf,size,*sizeWritten");
  visit(api.matmul_algo_cap_get_attribute, "cublasLtMatmulAlgoCapGetAttribute", "algo,attr,*buf,size,*sizeWritten");
  visit(api.matmul, "cublasLtMatmul",
        "handle,desc,alpha,A,Adesc,B,Bdesc,beta,C,Cdesc,D,Ddesc,algo,workspace,workspaceSize,stream");
  visit(api.logger_set_callback, "cublasLtLoggerSetCallback", "callback");
  visit(api.logger_set_level, "cublasLtLoggerSetLevel", "level");
}

template <class Visit>
void for_each_function(BlasApi& api, Visit visit) {
  visit(api.create, "cublasCreate", "*handle");
  visit(api.destroy, "cublasDestroy", "handle");
  visit(api.get_property, "cublasGetProperty", "type,*value");
  visit(api.set_stream, "cublasSetStream", "handle,stream");
  visit(api.gemm_ex, "cublasGemmEx",
        "handle,transa,transb,m,n,k,alpha,A,Atype,lda,B,Btype,ldb,beta,C,Ctype,ldc,computeType,algo");
  visit(api.gemm_strided_batched_ex, "cublasGemmStridedBatchedEx",
        "handle,transa,transb,m,n,k,alpha,A,Atype,lda,strideA,B,Btype,ldb,strideB,beta,C,Ctype,ldc,strideC,batchCount,"
        "computeType,algo");
  visit(api.sgemm, "cublasSgemm", "handle,transa,transb,m,n,k,alpha,A,lda,B,ldb,beta,C,ldc");
  visit(api.dgemm, "cublasDgemm", "handle,transa,transb,m,n,k,alpha,A,lda,B,ldb,beta,C,ldc");
  visit(api.set_pointer_mode, "cublasSetPointerMode", "handle,mode");
  visit(api.get_pointer_mode, "cublasGetPointerMode", "handle,*mode");
  visit(api.set_math_mode, "cublasSetMathMode", "handle,mode");
  visit(api.get_math_mode, "cublasGetMathMode", "handle,*mode");
  visit(api.get_atomics_mode, "cublasGetAtomicsMode", "handle,*mode");
  visit(api.set_workspace, "cublasSetWorkspace", "handle,workspace,workspaceSizeInBytes");
}

/// The audit's own kernels have no public name: "audit kernel prepare". Of their arguments only the stream says
/// something.
template <class Visit>
void for_each_function(KernelApi& api, Visit visit) {
  visit(api.prepare, "audit kernel prepare", "spec,stream");
  visit(api.inspect, "audit kernel inspect", "spec,record,stream");
  visit(api.compare, "audit kernel compare", "spec,record,stream");
  visit(api.freivalds, "audit kernel freivalds", "spec,record,stream");
  visit(api.occupy, "audit kernel occupy", "nanoseconds,stream");
  visit(api.copy_late, "audit kernel copy_late", "to,from,bytes,nanoseconds,stream");
}

}  // namespace lt_audit
