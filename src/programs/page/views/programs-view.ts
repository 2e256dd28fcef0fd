/** Programs that load code of one workspace: exactly what each would start, how it stands, and the acts that let it or take that back (choice 34). */
import type { Connection } from '../connection.js'
import { button, h } from '../elements.js'
import { shownLine } from '../shown-text.js'
import type { OnAct } from './workflows-view.js'
import type { ProgramStanding } from '../../../protocol/acceptance/acceptance.js'
import type { FormatterStatus } from '../../../protocol/format/formatter-routes.js'
import type { LspStatus } from '../../../protocol/lsp/lsp.js'
import type { McpCatalogEntry } from '../../../protocol/mcp/mcp.js'

export interface ProgramRow {
  readonly kind: 'language server' | 'formatter' | 'MCP server'
  readonly id: string
  readonly standing: ProgramStanding
  /** Of its operations. */
  readonly path: string
}

const PLUGINS = '/v2/plugins/dev.svc.'
const CONSEQUENCES = {
  'language server': 'It may start in this workspace and load code from there, now and later.',
  formatter: 'It may run code of this workspace after changes, now and later.',
  'MCP server': 'It is used in this workspace as it stands here; its tools are offered to models.',
} as const

/** Rows of what is there, those that wait first; throws an `Error` with the reason when there are none to be had. */
export async function programRows(connection: Connection, directory: string, on: OnAct): Promise<HTMLElement[]> {
  const query = directory === '' ? '' : `?directory=${encodeURIComponent(directory)}`
  const read = async <T>(path: string): Promise<T> => JSON.parse(await connection.text(`${PLUGINS}${path}${query}`)) as T
  // One after another: where one may not be asked, none may.
  const servers = await read<LspStatus[]>('lsp')
  const formatters = await read<FormatterStatus[]>('files/formatters')
  const catalog = await read<Record<string, McpCatalogEntry>>('mcp/catalog')
  const act = (work: Promise<void>) => void work.then(on.changed, on.failed)
  return waitingFirst([...ofServers(servers), ...ofFormatters(formatters), ...ofCatalog(catalog)]).map((program) => {
    const at = `${program.path}/acceptance${query}`
    return row(program, {
      accept: () => act(connection.post(at, { revision: program.standing.revision })),
      takeBack: () => act(connection.remove(at)),
    })
  })
}

export function ofServers(servers: readonly LspStatus[]): ProgramRow[] {
  return servers.flatMap(({ id, acceptance }) =>
    acceptance === null ? [] : [{ kind: 'language server', id, standing: acceptance, path: `${PLUGINS}lsp/${encodeURIComponent(id)}` }],
  )
}

/** Those that would run code of the workspace, and are wanted there; one that somebody has accepted in any case. */
export function ofFormatters(formatters: readonly FormatterStatus[]): ProgramRow[] {
  return formatters.flatMap(({ id, wanted, problem, acceptance }) =>
    acceptance === null || !((wanted && problem !== null) || acceptance.state === 'accepted')
      ? []
      : [{ kind: 'formatter', id, standing: acceptance, path: `${PLUGINS}files/formatters/${encodeURIComponent(id)}` }],
  )
}

/** Those of the installation need no act. */
export function ofCatalog(catalog: Readonly<Record<string, McpCatalogEntry>>): ProgramRow[] {
  return Object.entries(catalog).flatMap(([id, { acceptance }]) =>
    acceptance === null ? [] : [{ kind: 'MCP server', id, standing: acceptance, path: `${PLUGINS}mcp/${encodeURIComponent(id)}` }],
  )
}

export function waitingFirst(programs: readonly ProgramRow[]): ProgramRow[] {
  const rank = ({ standing }: ProgramRow) => (standing.state === 'waiting' ? 0 : 1)
  return programs.toSorted((a, b) => rank(a) - rank(b))
}

/** Whether somebody's act lets it start: a server of a workspace takes one even where the sandbox it then needs is missing. */
export function mayBeTakenBack({ kind, standing: { state } }: ProgramRow): boolean {
  return state === 'accepted' || (kind === 'MCP server' && state === 'unavailable')
}

function row(program: ProgramRow, acts: { accept(): void; takeBack(): void }): HTMLElement {
  const { kind, id, standing } = program
  const { state, commands, also, message, revision } = standing
  return h(
    'tr',
    { 'data-program': id, 'data-revision': revision },
    h('td', {}, id, h('small', {}, kind)),
    h(
      'td',
      {},
      ...commands.map((words) => h('p', {}, ...words.flatMap((word) => [h('code', {}, shownLine(word)), ' ']))),
      ...also.map((line) => h('small', {}, shownLine(line))),
    ),
    h(
      'td',
      {},
      h('span', { class: `badge state-${state}` }, state),
      message !== null && state !== 'waiting' && h('small', {}, message),
      state === 'waiting' && h('small', {}, CONSEQUENCES[kind]),
    ),
    h(
      'td',
      {},
      state === 'waiting' && button('Accept', `Accept exactly this: ${CONSEQUENCES[kind]}`, acts.accept),
      mayBeTakenBack(program) && button('Take back', 'It starts no more, and what runs of it ends', acts.takeBack),
    ),
  )
}
