import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { codeOnly } from './architecture/source.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Files of the layers that speak with others which parse JSON themselves, and why that holds up nobody. */
const UNCOUNTED: Readonly<Record<string, string>> = {
  'src/plugins/external/adapters.ts': 'a variable of the environment of the server',
  'src/plugins/external/link.ts': 'counted there: what has too much in it ends the agent',
  'src/plugins/external/options.ts': 'what was checked before, made anew without what is absent',
  'src/plugins/external/snapshots.ts': 'a file of ours, of bounded length',
  'src/plugins/files/format/guards.ts': 'counted there, with bounds of its own',
  'src/plugins/files/search/ripgrep-output.ts': 'lines of a program of ours, of bounded length',
  'src/plugins/lsp/link/inbox.ts': 'counted there: what has too much in it ends the program',
  'src/plugins/mcp/link/stdio.ts': 'counted there: what has too much in it ends the connection',
  'src/plugins/providers/exchange/json.ts': 'events are counted before; refusals have 64 KiB',
  'src/plugins/web/reading.ts': 'a program of ours, of bounded output',
}

function sourcesOf(...layers: readonly string[]) {
  return layers.flatMap((layer) =>
    readdirSync(join(root, layer), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => ({ path: `${layer}/${name.replaceAll('\\', '/')}`, code: codeOnly(readFileSync(join(root, layer, name), 'utf8')) })),
  )
}

test('what others send is counted before it is parsed, but where a file says why not', () => {
  const sources = sourcesOf('src/plugins', 'src/actors/provider')
  const parsing = sources.filter(({ code }) => /\bJSON\.parse\b|\.json\(\)/.test(code)).map(({ path }) => path)
  expect(parsing.toSorted()).toEqual(Object.keys(UNCOUNTED).toSorted())
  const counting = sources
    .filter(({ code }) => /\b(?:parseForeign|foreignExcess|createJsonCount|excessOf)\(/.test(code))
    .map(({ path }) => path)
  expect(counting).toEqual(expect.arrayContaining(['src/plugins/lsp/link/inbox.ts', 'src/plugins/mcp/link/guarded-http.ts']))
  expect(counting.length).toBeGreaterThanOrEqual(12)
})
