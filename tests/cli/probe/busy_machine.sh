# shellcheck shell=bash
# A machine whose times vary gets no profile: the clock is made to jump between any two looks at it.
command -v cc >/dev/null || { echo "no C compiler"; exit 6; }
cat >jumps.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <time.h>

static atomic_ullong calls, jumped_ns;

// Jumps from 1 us to 16 ms, all sizes equally often: half of any few differ by more than their median.
int clock_gettime(clockid_t clock, struct timespec* now) {
  int (*real)(clockid_t, struct timespec*) = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  int code = real(clock, now);
  unsigned long long word = (atomic_fetch_add(&calls, 1) + 1) * 0x9e3779b97f4a7c15ull;
  word = (word ^ word >> 32) * 0xd6e8feb86659fd93ull;
  unsigned long long ahead = atomic_fetch_add(&jumped_ns, 1000ull << (word >> 32) % 15) + now->tv_nsec;
  now->tv_sec += ahead / 1000000000;
  now->tv_nsec = ahead % 1000000000;
  return code;
}
END
cc -shared -fPIC -O1 jumps.c -o jumps.so -ldl
probe=(csr-probe --device cpu --max-table 1M --seconds 1 -k 16 --output m.json)
expect 1 env LD_PRELOAD="$PWD/jumps.so" "${probe[@]}"
says "% of the median apart in the best of 10 measurements"
says "--max-spread"
no_file m.json
