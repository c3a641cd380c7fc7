// The output layer where only some of its rows are wanted.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// matrix_wanted are the rows of the output layer that are wanted of each of its tokens:
// those of token i are rows[behind[i-1]] to rows[behind[i]-1], in order; none: all.
struct matrix_wanted {
    int32_t tokens;
    const int32_t * behind;
    const int32_t * rows;
};

#ifdef __cplusplus
}

struct ggml_compute_params;
struct ggml_tensor;

namespace matrix {

namespace output {

// While one of these exists, the output layer computes what is wanted, and minus
// infinity elsewhere. One exists at a time.
class request {
  public:
    explicit request(const matrix_wanted & wanted);
    ~request();
};

// find returns what is wanted of an operation; nullptr: all.
const matrix_wanted * find(const ggml_tensor * op);

void compute(ggml_compute_params * params, ggml_tensor * op, const matrix_wanted & wanted);

} // namespace output

} // namespace matrix
#endif
