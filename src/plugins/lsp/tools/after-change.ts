/**
 * Diagnostics after a tool has changed files (sessions-events §10.8): of servers that run already, bounded in time and size. A change is never
 * failed by them.
 */
import type { NativeHost } from '../../../ports/plugin.js'
import * as z from 'zod'
import { LIMITS } from '../../../protocol/limits.js'
import type { LspDiagnostic } from '../../../protocol/lsp/lsp-records.js'
import { TRUSTED_CALLER } from '../../../protocol/caller.js'
import type { Clients } from '../clients/clients.js'
import type { Queries } from '../queries.js'

/** Tools whose results name the files they have changed. */
export const CHANGING_TOOLS = ['write', 'edit', 'apply_patch'] as const

const Context = z.looseObject({ toolId: z.string(), directory: z.string(), sessionId: z.string() })
const Changed = z.looseObject({ filePath: z.string(), type: z.string() })
const Result = z.looseObject({ output: z.string(), metadata: z.looseObject({ files: z.array(Changed).optional() }) })

/** The result with the errors in the files that were changed; as it was when no server that runs knows one of them. */
export function afterChange({ effects, sessions }: Pick<NativeHost, 'effects' | 'sessions'>, queries: Queries, clients: Clients) {
  return async (context: Readonly<Record<string, unknown>>, value: unknown, signal: AbortSignal): Promise<unknown> => {
    const { directory, sessionId } = Context.parse(context)
    if (sessions.get(sessionId)?.executionPolicy !== undefined) return value // No server works for strangers.
    const result = Result.safeParse(value)
    const files = result.success ? (result.data.metadata.files ?? []).filter(({ type }) => type !== 'delete') : []
    if (!result.success || files.length === 0 || !clients.in(directory).some(({ isReady }) => isReady)) return value
    try {
      const found = await diagnose(queries, clients, { directory, paths: files.map(({ filePath }) => filePath), signal })
      if (found.touched.length === 0) return value
      const metadata = { ...result.data.metadata, lspTouch: found.touched, diagnostics: found.diagnostics.slice(0, LIMITS.lsp.toldEntries) }
      return { ...result.data, output: `${result.data.output}${told(found.diagnostics, found.touched)}`, metadata }
    } catch (error) {
      effects.log.info('diagnostics after a change are missing', { directory, cause: String(error) })
      return value
    }
  }
}

interface Found {
  /** Paths, as they are told, that a server knows. */
  readonly touched: readonly string[]
  /** Of the changed files first, then of others with errors. */
  readonly diagnostics: readonly LspDiagnostic[]
}

async function diagnose(
  queries: Queries,
  clients: Clients,
  { directory, paths, signal }: { readonly directory: string; readonly paths: readonly string[]; readonly signal: AbortSignal },
): Promise<Found> {
  const touched: string[] = []
  const own: LspDiagnostic[] = []
  await Promise.all(
    paths.slice(0, LIMITS.lsp.openDocuments).map(async (file) => {
      const target = await queries.target(TRUSTED_CALLER, directory, file, signal)
      const fitting = await queries.changed(target, LIMITS.lsp.toolWait)
      if (fitting.length === 0) return
      touched.push(target.path.startsWith(`${directory}/`) ? target.path.slice(directory.length + 1) : target.path)
      for (const { client, language } of fitting) own.push(...(await queries.known(client, target.path, language)))
    }),
  )
  const others: LspDiagnostic[] = []
  for (const client of clients.in(directory)) {
    for (const path of client.diagnostics.paths.slice(0, LIMITS.lsp.otherFiles)) {
      const known = await queries.known(client, path, client.adapter.language ?? client.adapter.id)
      if (known[0] !== undefined && !touched.includes(known[0].path)) others.push(...known.filter(({ severity }) => severity === 'error'))
    }
  }
  return { touched: touched.toSorted(), diagnostics: [...own, ...others] }
}

function told(diagnostics: readonly LspDiagnostic[], touched: readonly string[]): string {
  const sections = touched.flatMap((path) => {
    const errors = diagnostics.filter((each) => each.path === path && each.severity === 'error')
    if (errors.length === 0) return []
    const lines = errors.slice(0, LIMITS.lsp.toldErrors).map(({ range, message, source, code }) => {
      const from = [source, code].filter((each) => each !== null).join(' ')
      return `  line ${range?.start.line ?? '?'}:${range?.start.character ?? '?'}: ${message.slice(0, 500)}${from === '' ? '' : ` (${from})`}`
    })
    const more = errors.length > LIMITS.lsp.toldErrors ? [`  … and ${errors.length - LIMITS.lsp.toldErrors} more`] : []
    return [[`Errors in ${path}:`, ...lines, ...more].join('\n')]
  })
  return sections.length === 0 ? '' : `\n\n${sections.join('\n\n')}`
}
