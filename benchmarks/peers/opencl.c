/* One device, one queue, and memory that is used where it is. */
#define CL_TARGET_OPENCL_VERSION 120
#include "benchmarks/peers/opencl.h"

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static char said[16384], name[256];

const char* bench_opencl_begin(const char* source) {
  if (program)
    return NULL;
  cl_platform_id platform;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL) != CL_SUCCESS)
    return "there is no OpenCL for the processor";
  char version[128] = "";
  clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version, version, NULL);
  const char* pocl = strstr(version, "PoCL ");
  snprintf(name, sizeof name, "%.8s", pocl ? pocl : version);
  cl_int status;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  queue = context ? clCreateCommandQueue(context, device, 0, &status) : NULL;
  program = queue ? clCreateProgramWithSource(context, 1, &source, NULL, &status) : NULL;
  if (!program)
    return "OpenCL does not begin";
  if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof said - 1, said, NULL);
    return said;
  }
  return NULL;
}

const char* bench_opencl_name(void) {
  return name;
}

struct prepared {
  cl_kernel kernel;
  cl_mem memory[16];
  unsigned memories, dimensions;
  size_t extents[3];
};

void* bench_opencl_kernel(const char* called, unsigned count, const struct bench_opencl_argument* arguments,
                          unsigned dimensions, const size_t* extents) {
  cl_int status;
  struct prepared* made = calloc(1, sizeof *made);
  made->kernel = clCreateKernel(program, called, &status);
  if (!made->kernel) {
    free(made);
    return NULL;
  }
  for (unsigned number = 0; number < count; ++number) {
    if (!arguments[number].bytes) {
      clSetKernelArg(made->kernel, number, arguments[number].size, arguments[number].data);
      continue;
    }
    cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, arguments[number].bytes,
                                   arguments[number].data, &status);
    made->memory[made->memories++] = memory;
    clSetKernelArg(made->kernel, number, sizeof memory, &memory);
  }
  made->dimensions = dimensions;
  memcpy(made->extents, extents, dimensions * sizeof *extents);
  return made;
}

void bench_opencl_run(void* kernel) {
  struct prepared* made = kernel;
  clEnqueueNDRangeKernel(queue, made->kernel, made->dimensions, NULL, made->extents, NULL, 0, NULL, NULL);
  clFinish(queue);
}

void bench_opencl_end(void* kernel) {
  struct prepared* made = kernel;
  for (unsigned number = 0; number < made->memories; ++number)
    clReleaseMemObject(made->memory[number]);
  clReleaseKernel(made->kernel);
  free(made);
}
