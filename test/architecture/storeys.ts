/** A folder imports only what stands below it: the order of the storeys, as data, and what breaks it. */
import { type SourceFile, neighbours } from './source.js'

/**
 * From the ground up, `|` between rows: a part (a file or a folder) imports itself and what stands before its row, never its own row.
 * Files directly in a folder that its list does not name are free; every folder in it is named.
 */
const STOREYS: Readonly<Record<string, string>> = {
  src: 'kernel | protocol | machines store | ports | platform plugins http simulation | actors | server | published | cli programs',
  'src/machines':
    'report required | acceptance acp events external goals interaction look lsp mcp permission plugin pty runtime screen semantic session shell sign-in subagents vcs worker workflows workspace',
  'src/actors': 'artifact inspector provider telemetry tenancy | events resource | interaction plugin workspace | session | host | runtime',
  'src/actors/session': 'state | restore | history | admission | bundles compaction | run | session.actor | supervisor | sessions',
  'src/actors/plugin': 'registry | calls generation | link native | brokers | process | entry | package | facade | plugin-system',
  'src/actors/resource': 'config | markdown | snapshot | contributed managed | catalog | facade',
  'src/actors/provider': 'credentials | catalog sign-in | adapter-cache keys | leases',
  'src/platform': 'git node watched | protection | confinement',
  'src/plugins':
    'artifacts documents external files goals interactions lsp mcp memory providers pty semantic shell skills subagents vcs web workflows',
  'src/plugins/shell': 'parse | words | programs | judge | changes | run | jobs',
  'src/plugins/files': 'text | places | format search | change',
  'src/plugins/workflows': 'settings turns | files | runs | schedule | views | definitions | operations',
  'src/plugins/lsp': 'link | clients | answers | tools',
  'src/plugins/mcp': 'link | servers | offer operations | oauth',
  'src/plugins/providers': 'exchange | anthropic google offline openai openai-compatible',
  'src/http': 'calls pace request sockets | admission answer | streams | bind | contributed | routes | server',
  'src/store': 'disk | opening | search | open',
  'src/cli': 'line terminal | kept-log answers | connection | commands | screen | help | main',
  'src/cli/screen': 'paint | input story | talk | plain symbols typing | screen',
  'src/published': 'client kit | testing',
  'src/programs': 'native page reader sandbox toolbox',
  'src/programs/sandbox': 'values | lua',
  'src/programs/page': 'chart | views | screen',
}

/** One sentence for each arrow that climbs, each folder without a place, and each place without a folder or file. */
export function climbs(files: readonly SourceFile[], storeys: Readonly<Record<string, string>> = STOREYS): string[] {
  const arrows = files.flatMap(({ path, text }) => neighbours(path, text).map((to) => ({ from: path, to })))
  return Object.entries(storeys).flatMap(([folder, list]) => {
    const rows = rowsOf(list)
    const climbing = arrows.flatMap(({ from, to }) => {
      const [a, b] = [childOf(folder, from), childOf(folder, to)]
      const [low, high] = [rows.get(a?.name ?? ''), rows.get(b?.name ?? '')]
      if (a?.name === b?.name || low === undefined || high === undefined || low > high) return []
      return [`${from}: imports ${to}, which stands ${low === high ? 'beside' : 'above'} it in ${folder}`]
    })
    return [...climbing, ...unplaced(folder, rows, files)]
  })
}

function unplaced(folder: string, rows: ReadonlyMap<string, number>, files: readonly SourceFile[]): string[] {
  const children = files.flatMap(({ path }) => childOf(folder, path) ?? [])
  const homeless = new Set(children.filter(({ name, isFolder }) => isFolder && !rows.has(name)).map(({ name }) => name))
  return [...homeless].map((name) => `${folder}/${name}: has no place in the order of ${folder}`)
}

/** Names in the lists that stand for nothing. */
export function deserted(files: readonly SourceFile[], storeys: Readonly<Record<string, string>> = STOREYS): string[] {
  return Object.entries(storeys).flatMap(([folder, list]) => {
    const names = new Set(files.flatMap(({ path }) => childOf(folder, path)?.name ?? []))
    return [...rowsOf(list).keys()].filter((name) => !names.has(name)).map((name) => `${folder}: names ${name}, which is not there`)
  })
}

/** Name → number of its row. */
function rowsOf(list: string): Map<string, number> {
  return new Map(
    list.split('|').flatMap((row, index) =>
      row
        .trim()
        .split(/\s+/)
        .map((name) => [name, index] as const),
    ),
  )
}

/** `src/a/b/c.ts` in `src/a` → the folder `b`; a file goes without its ending. */
function childOf(folder: string, path: string): { readonly name: string; readonly isFolder: boolean } | undefined {
  if (!path.startsWith(`${folder}/`)) return undefined
  const [name = '', ...rest] = path.slice(folder.length + 1).split('/')
  return rest.length > 0 ? { name, isFolder: true } : { name: name.replace(/\.ts$/, ''), isFolder: false }
}
