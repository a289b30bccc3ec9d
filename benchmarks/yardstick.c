/* What engine `agents` is measured against: the same work written by hand. Two agents of a complete graph, or the ends
   of an arc, are drawn without bias by xoshiro256++; what they become is read from a table of all pairs of states.
   Agents are asked for from memory 32 steps ahead. Arguments: states, n, steps, arcs (0: complete). Reads from standard
   input the table (pairs of 16 bits), then the agents (16 bits each), then the arcs (pairs of 32 bits); prints the
   processor seconds, and a sum of all states. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t s[4] = {1, 2, 3, 4};

static inline uint64_t rotated(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline uint64_t next(void) {
    const uint64_t result = rotated(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotated(s[3], 45);
    return result;
}

static inline int fair(uint64_t product, uint32_t bound) {
    return (uint32_t)product >= bound || (uint32_t)product >= (uint32_t)(-bound) % bound;
}

enum { AHEAD = 32 };

int main(int count, char **given) {
    if (count != 5) return 2;
    const uint64_t states = strtoull(given[1], 0, 10), n = strtoull(given[2], 0, 10);
    const uint64_t steps = strtoull(given[3], 0, 10), m = strtoull(given[4], 0, 10);
    uint16_t (*table)[2] = malloc(states * states * 4), *agents = malloc(2 * n);
    uint32_t (*arcs)[2] = malloc(8 * m + 8);
    if (!table || !agents || !arcs) return 2;
    if (fread(table, 4, states * states, stdin) != states * states || fread(agents, 2, n, stdin) != n ||
        fread(arcs, 8, m, stdin) != m)
        return 2;
    uint32_t first[AHEAD], second[AHEAD];
    const clock_t begin = clock();
    for (uint64_t done = 0; done < steps; done += AHEAD) {
        for (int k = 0; k < AHEAD; k++) {
            uint64_t i, j;
            for (;;) {
                const uint64_t word = next();
                if (m) {
                    const uint64_t product = (word >> 32) * m;
                    if (!fair(product, m)) continue;
                    i = arcs[product >> 32][0];
                    j = arcs[product >> 32][1];
                    break;
                }
                const uint64_t x = (word >> 32) * n, y = (word & 0xFFFFFFFF) * (n - 1);
                if (!fair(x, n) || !fair(y, n - 1)) continue;
                i = x >> 32;
                j = y >> 32;
                j += j >= i;
                break;
            }
            first[k] = i;
            second[k] = j;
            __builtin_prefetch(agents + i, 1);
            __builtin_prefetch(agents + j, 1);
        }
        for (int k = 0; k < AHEAD; k++) {
            const uint16_t *after = table[agents[first[k]] * states + agents[second[k]]];
            agents[first[k]] = after[0];
            agents[second[k]] = after[1];
        }
    }
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++) sum += agents[i];
    printf("%.6f %llu\n", seconds, (unsigned long long)sum);
    return 0;
}
