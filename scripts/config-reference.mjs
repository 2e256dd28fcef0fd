/**
 * Writes docs/configuration.md from the schema of its keys. With --check nothing is written; a stale page is named and the exit code is 1.
 */
import { configPage } from './config-page.mjs'
import { loadSource, settle } from './generated.mjs'
import { typesOf } from './schema-words.mjs'

const { toOpenApi } = await loadSource('src/protocol/openapi.ts')
// Asked before the next source is loaded: names of records are known to the whole process.
const { typeText } = typesOf(toOpenApi().components.schemas)
const { configKeyRows } = await loadSource('src/actors/resource/config/config-reference.ts')

settle('docs', [['configuration.md', configPage(configKeyRows(), typeText)]], { prune: false })
