/**
 * What one server has found wrong, by file (subsystems e.6). It outlives a restart of the server.
 *
 * I1 What was found in an older version than the server was told of last, or than was accepted last, is dropped.
 * I2 Bounded: of a file, in files, and in all; what came longest ago goes.
 */
import * as z from 'zod'
import { LIMITS } from '../../../protocol/limits.js'
import type { PositionEncoding } from '../../../protocol/lsp/text-positions.js'

const Position = z.looseObject({ line: z.number(), character: z.number() })
export const RawRange = z.looseObject({ start: Position, end: Position })
export type RawRange = z.infer<typeof RawRange>

export const RawDiagnostic = z.looseObject({
  range: RawRange,
  severity: z.number().nullish(),
  code: z.union([z.string(), z.number()]).nullish(),
  codeDescription: z.looseObject({ href: z.string().nullish() }).nullish(),
  source: z.string().nullish(),
  message: z.string(),
  tags: z.array(z.number()).nullish(),
  relatedInformation: z
    .array(z.looseObject({ location: z.looseObject({ uri: z.string(), range: RawRange }), message: z.string() }))
    .nullish(),
  data: z.unknown().optional(),
})
export type RawDiagnostic = z.infer<typeof RawDiagnostic>

interface FileDiagnostics {
  readonly items: readonly RawDiagnostic[]
  readonly encoding: PositionEncoding
}

interface Publication {
  readonly path: string
  readonly version: number | undefined
  readonly items: unknown
  readonly encoding: PositionEncoding
  /** Version of the open document; undefined = it is not open. */
  readonly current: number | undefined
}

export interface Diagnostics {
  /** False when it was dropped. */
  accept(publication: Publication): boolean
  of(path: string): FileDiagnostics | undefined
  /** Paths with at least one, those that changed last first. */
  readonly paths: readonly string[]
  /** A file has been told of, and nothing was accepted for it since. */
  isAwaited(path: string): boolean
  await(path: string): void
  /** Resolves once something is accepted for the file. */
  next(path: string): Promise<void>
  /** The server starts anew: what is known stays, versions count from zero again. */
  restart(): void
}

export function createDiagnostics(onAccepted: () => void): Diagnostics {
  const files = new Map<string, FileDiagnostics & { readonly size: number }>()
  const floors = new Map<string, number>()
  const awaited = new Set<string>()
  const waiting = new Map<string, { readonly accepted: Promise<void>; resolve(): void }>()
  let total = 0

  function forget(path: string): void {
    total -= files.get(path)?.size ?? 0
    files.delete(path)
  }

  return {
    accept({ path, version, items, encoding, current }) {
      if (version !== undefined && (version < (current ?? 0) || version < (floors.get(path) ?? 0))) return false // I1
      const kept: RawDiagnostic[] = []
      let size = 0
      for (const item of Array.isArray(items) ? items.slice(0, LIMITS.lsp.diagnostics) : []) {
        const read = RawDiagnostic.safeParse(item)
        if (!read.success) continue
        size += JSON.stringify(read.data).length
        if (size > LIMITS.lsp.fileDiagnostics) break
        kept.push(read.data)
      }
      forget(path)
      if (kept.length > 0) {
        files.set(path, { items: kept, encoding, size })
        total += size
      }
      for (const oldest of files.keys()) {
        if (files.size <= LIMITS.lsp.diagnosticFiles && total <= LIMITS.lsp.allDiagnostics) break
        forget(oldest)
      }
      if (version !== undefined && current !== undefined) floors.set(path, version)
      awaited.delete(path)
      waiting.get(path)?.resolve()
      waiting.delete(path)
      onAccepted()
      return true
    },
    of: (path) => files.get(path),
    get paths() {
      return [...files.keys()].toReversed()
    },
    isAwaited: (path) => awaited.has(path),
    await(path) {
      if (awaited.size < LIMITS.lsp.openDocuments * 2) awaited.add(path)
    },
    next(path) {
      const known = waiting.get(path)
      if (known !== undefined) return known.accepted
      const [oldest] = waiting.keys()
      if (oldest !== undefined && waiting.size >= LIMITS.lsp.openDocuments * 2) waiting.delete(oldest)
      let resolve = (): void => undefined
      const accepted = new Promise<void>((settle) => {
        resolve = settle
      })
      waiting.set(path, { accepted, resolve })
      return accepted
    },
    restart() {
      floors.clear()
      awaited.clear()
    },
  }
}
