// How operands get where the tiles read them.
#pragma once

#ifdef CELLWRIGHT_BFLOAT16
#include "packing_bfloat16.hpp"
#else
#include "packing_float32.hpp"
#endif
