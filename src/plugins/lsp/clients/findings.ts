/** What a running server is asked about a file, or waited for: what is wrong in it (subsystems e.6). */
import * as z from 'zod'
import type { NativeHost } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'
import { sleep } from '../../../kernel/patience.js'
import { pathOfUri } from './addresses.js'
import type { Diagnostics } from './diagnostics.js'
import type { OpenDocument } from './documents.js'
import type { Running } from './running.js'

/** How long somebody waits for it. */
interface Wait {
  readonly clock: NativeHost['effects']['clock']
  readonly ms: number
  readonly signal: AbortSignal
}

const Report = z.looseObject({
  kind: z.string(),
  items: z.unknown().optional(),
  relatedDocuments: z.record(z.string(), z.looseObject({ kind: z.string(), items: z.unknown().optional() })).nullish(),
})

/** Asks for what is wrong in a file, or waits for it. */
export async function lookAt(diagnostics: Diagnostics, running: Running, document: OpenDocument, wait: Wait): Promise<void> {
  if (running.traits.pull !== undefined) return pull(diagnostics, running, document, wait).catch(() => undefined)
  if (!diagnostics.isAwaited(document.path)) return
  const { path, version } = document
  const begun = wait.clock.monotonic()
  await published(diagnostics, path, wait)
  if (version > 0 || diagnostics.isAwaited(path) || diagnostics.of(path) !== undefined) return
  // Of a file it was just told of, a server may say that nothing is wrong before it has looked.
  await published(diagnostics, path, { ...wait, ms: Math.min(LIMITS.lsp.settle, wait.ms - (wait.clock.monotonic() - begun)) })
}

async function pull(
  diagnostics: Diagnostics,
  { program, traits, documents }: Running,
  { path, uri, version }: OpenDocument,
  { ms, signal }: Wait,
): Promise<void> {
  const identifier = traits.pull?.identifier
  const params = { textDocument: { uri }, ...(identifier !== undefined && { identifier }) }
  const report = Report.parse(await program.request('textDocument/diagnostic', params, { ms, signal }))
  const { encoding } = traits
  if (report.kind === 'full') diagnostics.accept({ path, version, items: report.items, encoding, current: documents.get(path)?.version })
  for (const [address, other] of Object.entries(report.relatedDocuments ?? {})) {
    const at = pathOfUri(address)
    if (at !== undefined && other.kind === 'full')
      diagnostics.accept({ path: at, version: undefined, items: other.items, encoding, current: undefined })
  }
}

/** Resolves when something is accepted for the file, `ms` later at the latest. */
async function published(diagnostics: Diagnostics, path: string, { clock, ms, signal }: Wait): Promise<void> {
  const done = new AbortController()
  const late = sleep(clock, ms, AbortSignal.any([signal, done.signal]))
  await Promise.race([diagnostics.next(path), late])
  done.abort()
}
