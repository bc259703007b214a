/* test_example_file.c - packing and unpacking restores chunks with targets of every form.
 * SPDX-License-Identifier: MIT */
#include "tests/lib/unit.h"

#include "common/base/rng.h"
#include "common/examples/example_file.h"

enum { MAX_L = 33, KINDS = 7 };

/* Draws a value of this kind. Hundredths are like those of examples.h. */
static float draw(struct cov_rng *rng, size_t kind)
{
    uint64_t x = cov_rng_next(rng);
    switch (kind) {
    case 0:
        return 0;
    case 1:
        return (float)(x % 256);
    case 2:
        return (float)(x % 65536);
    case 3:
        return (float)(x % 65536) / 100.0F;
    case 4:
        return x % 2 ? 700.0F : 0.25F; /* an integer too large for hundredths */
    case 5:
        return rintf((float)(x % 10000000)) / 100.0F;
    default:
        return (float)(x % 100000000);
    }
}

/* Returns the packed size of a dataset of this kind. */
static size_t bytes_of(size_t kind, size_t L)
{
    static const size_t bytes[KINDS] = {0, 1, 2, 2, 4, 4, 4};
    return 1 + bytes[kind] * L;
}

TEST(test_round_trip)
{
    struct cov_rng rng;
    cov_rng_init(&rng, 9);
    for (size_t L = 1; L <= MAX_L; L++) {
        uint8_t codes[MAX_L], codes2[MAX_L];
        float targets[MAX_L * KINDS], targets2[MAX_L * KINDS];
        for (size_t i = 0; i < L; i++)
            codes[i] = (uint8_t)cov_rng_below(&rng, 16);
        for (size_t i = 0; i < L * KINDS; i++)
            targets[i] = draw(&rng, i % KINDS);
        /* A single value can determine the form of a dataset. */
        targets[2] = 65535;
        targets[3] = 0.01F;
        targets[4] = 0.25F;
        targets[5] = 99999.99F;
        targets[6] = 1e8F;
        if (L > 1)
            targets[KINDS + 4] = 700;
        size_t bound = cov_example_pack_bound(L, KINDS);
        uint8_t *packed = must(malloc(bound));
        size_t n = cov_example_pack(codes, targets, L, KINDS, packed), most = (L + 1) / 2;
        for (size_t kind = 0; kind < KINDS; kind++)
            most += bytes_of(kind, L);
        assert_true(n <= bound && n <= most);
        cov_example_unpack(packed, L, KINDS, codes2, targets2);
        assert_memory_equal(codes, codes2, L);
        assert_memory_equal(targets, targets2, L * KINDS * sizeof *targets);
        free(packed);
    }
}
