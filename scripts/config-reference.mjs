/**
 * Writes docs/configuration.md from the schema of its keys, and docs/plugin-brokers.md from the operations of brokers. With --check nothing is written; a stale page is named and the exit code is 1.
 */
import { brokerPage } from './broker-page.mjs'
import { configPage } from './config-page.mjs'
import { loadSource, settle } from './generated.mjs'
import { typesOf } from './schema-words.mjs'

const { toOpenApi } = await loadSource('src/protocol/openapi.ts')
// Asked before the next source is loaded: names of records are known to the whole process.
const { typeText } = typesOf(toOpenApi().components.schemas)
const { brokerRows } = await loadSource('src/protocol/plugin/broker-reference.ts')
const { configKeyRows } = await loadSource('src/actors/resource/config/config-reference.ts')

const pages = [
  ['configuration.md', configPage(configKeyRows(), typeText)],
  ['plugin-brokers.md', brokerPage(brokerRows(), typeText)],
]
settle('docs', pages, { prune: false })
