/* benchmark.c - measures the tools, the loaders and the network: charts, a report and
 * recommendations.
 *
 * The subcommands are in tools/benchmark/.
 * SPDX-License-Identifier: MIT */
#include "tools/benchmark/bench.h"

#include <stddef.h>
#include <stdio.h>

#include "common/compute/device.h"
#include "common/h5/h5.h"

static const struct cov_tool *const subcommands[] = {
    &benchmark_synth,   &benchmark_stages, &benchmark_pipeline,
    &benchmark_loader,  &benchmark_encode, &benchmark_model,
    &benchmark_compare, &benchmark_report, NULL,
};

static void print_versions(FILE *f)
{
    struct cov_device *device = NULL;
    cov_libraries_print(f);
    if (cov_device_open_cpu(NULL, &device, NULL) == COV_OK)
        (void)fprintf(f, "device: %s\n", device->ops->describe(device));
    cov_device_close(device);
}

int main(int argc, char **argv)
{
    static const struct cov_tool tool = {
        .name = "benchmark",
        .summary = "measure the tools, the loaders and the network on this machine",
        .subcommands = subcommands,
        .examples = "  benchmark report --quick\n"
                    "  benchmark model --model combined -o results/\n"
                    "  benchmark compare base/benchmark.json new/benchmark.json\n",
        .print_versions = print_versions,
    };
    return cov_tool_main(&tool, argc, argv);
}
