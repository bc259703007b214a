// Runs the modules alone, on the files of --data, whose names begin with `-`, under the name --id.
//
//   nextflow run modules.nf --data DIRECTORY --id NAME
//
// SPDX-License-Identifier: MIT
nextflow.preview.topic = true

include { FASTA2H5           } from '../modules/local/fasta2h5/main'
include { BAM2H5             } from '../modules/local/bam2h5/main'
include { COVPREDICT         } from '../modules/local/covpredict/main'
include { COVTRAIN           } from '../modules/local/covtrain/main'
include { H5CHUNK_MERGE      } from '../modules/local/h5chunk/merge/main'
include { H5CHUNK_INFO       } from '../modules/local/h5chunk/info/main'
include { PREDICT_GENOME     } from '../modules/local/predict_genome/main'
include { COV2BIGWIG_TRACKS  } from '../modules/local/cov2bigwig/tracks/main'
include { COV2BIGWIG_COMPARE } from '../modules/local/cov2bigwig/compare/main'
include { COVPEAKS_CALL      } from '../modules/local/covpeaks/call/main'
include { COVPEAKS_COMPARE   } from '../modules/local/covpeaks/compare/main'
include { COVPEAKS_STATS     } from '../modules/local/covpeaks/stats/main'
include { COVPEAKS_CURVE     } from '../modules/local/covpeaks/curve/main'
include { COVPROFILE_GENES   } from '../modules/local/covprofile/genes/main'
include { COVPROFILE_REGION  } from '../modules/local/covprofile/region/main'
include { COVPROFILE_HEATMAP } from '../modules/local/covprofile/heatmap/main'
include { COVPROFILE_CORRELATE } from '../modules/local/covprofile/correlate/main'
include { COVEFFECT_VCF      } from '../modules/local/coveffect/vcf/main'
include { COVEFFECT_BASES    } from '../modules/local/coveffect/bases/main'

workflow {
    def data = { name -> file("${params.data}/${name}", glob: false, checkIfExists: true) }
    def meta = [id: params.id, assay: 'atacseq']
    FASTA2H5([meta, data('-weed.fa.gz')])
    BAM2H5([meta, data('-weed.h5'), 'again', [data('-weed.sam.gz'), data('rep2/-weed.sam.gz')]])
    COVPREDICT([meta, data('-weed.h5'), data('-tiny.ckpt'), '1/1'])
    COVTRAIN([meta, data('-weed.h5'), data('-weed.h5'), []])
    H5CHUNK_MERGE([meta, data('-part.h5'), data('-part.json')])
    H5CHUNK_INFO([meta, data('-weed.h5')])
    PREDICT_GENOME([meta, data('-weed.fa.gz'), data('-tiny.ckpt'), 'weed'])
    COV2BIGWIG_TRACKS([meta, data('-predictions.h5')])
    COVPEAKS_CALL([meta, data('-predictions.h5'), 'atacseq', [5, 2]])
    COVPEAKS_CURVE([meta, data('-predictions.h5'), data('-weed.bed'), 'atacseq'])
    COVPEAKS_STATS([meta, data('-weed.bed'), data('-weed.h5')])
    COVPEAKS_COMPARE([meta, data('-weed.bed'), data('-weed.bed'), data('-weed.h5'), 'atacseq'])
    COVPROFILE_GENES([meta, [data('-predictions.h5'), data('-weed.h5')], data('-weed.bed')])
    COVPROFILE_REGION([meta, [data('-predictions.h5'), data('-weed.h5')], data('-weed.bed'), 'chr1:1-5000'])
    COVPROFILE_HEATMAP([meta, [data('-weed.tiny.atacseq.compare.tsv')], 'pearson_1'], file("${projectDir}/../heatmap.sh"))
    COVPROFILE_CORRELATE([meta, [data('-predictions.h5'), data('-weed.h5')]])
    COVEFFECT_VCF([meta, data('-weed.fa.gz'), data('-weed.vcf'), data('-tiny.ckpt'), data('-weed.bed')])
    COVEFFECT_BASES([meta, data('-weed.fa.gz'), data('-weed.bed'), data('-tiny.ckpt'), 'atacseq'], 'gradients')
    COV2BIGWIG_COMPARE([meta, data('-predictions.h5'), data('-weed.h5')])
}
