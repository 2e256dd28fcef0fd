/**
 * Writes docs/configuration.md from the schema of its keys, and docs/plugin-brokers.md from the descriptions of the operations, and docs/metrics.md from the table of metrics. With --check nothing is written; a stale page is named and the exit code is 1.
 */
import * as z from 'zod'
import { brokerPage } from './broker-page.mjs'
import { configPage } from './config-page.mjs'
import { loadSource, settle } from './generated.mjs'
import { metricsPage } from './metrics-page.mjs'
import { typesOf } from './schema-words.mjs'

const { toOpenApi } = await loadSource('src/protocol/openapi.ts')
// Asked before the next source is loaded: names of records are known to the whole process.
const { typeText } = typesOf(toOpenApi().components.schemas)
const { configKeyRows } = await loadSource('src/actors/resource/config/config-reference.ts')

const { BROKER_OPERATIONS: operations } = await loadSource('src/protocol/plugin/broker-operations.ts')
const { METRICS, BUCKETS } = await loadSource('src/actors/telemetry/metric-table.ts')
const { HOST_METHODS } = await loadSource('src/protocol/plugin/host-methods.ts')

const methodOf = (wanted) => HOST_METHODS.find(({ capability, kind }) => capability === wanted && kind === 'broker')?.method
/** As whoever calls it writes it, without what the library says about itself. */
const schemaOf = (schema, io) => z.toJSONSchema(schema, { io, unrepresentable: 'any' })

const pages = [
  ['configuration.md', configPage(configKeyRows(), typeText)],
  ['metrics.md', metricsPage(METRICS, BUCKETS)],
  [
    'plugin-brokers.md',
    brokerPage({
      operations,
      methods: Object.fromEntries(Object.keys(operations).map((capability) => [capability, methodOf(capability)])),
      inputOf: ({ input }) => schemaOf(input, 'input'),
      outputOf: ({ output }) => schemaOf(output, 'output'),
    }),
  ],
]
settle('docs', pages, { prune: false })
