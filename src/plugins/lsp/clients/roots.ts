/**
 * Which directory is the project of a file (subsystems e.1): the nearest one above it with a marker, within the workspace; of a Rust project
 * what cargo says of that.
 */
import * as z from 'zod'
import type { ProcessResult } from '../../../ports/effects.js'
import type { NativeHost } from '../../../ports/plugin.js'
import { isWithin } from '../../../protocol/caller.js'
import { isMarker, isWide } from '../../../protocol/lsp/adapters.js'
import { MESSAGE_BOUNDS, parseForeign } from '../../../protocol/text/foreign-json.js'
import { createLru } from '../../../kernel/lru.js'
import type { ConfiguredAdapter } from '../configured.js'

export interface Roots {
  /** `ask` starts the build tool; without it nothing is started, and what it said before counts. */
  of(directory: string, path: string, adapter: ConfiguredAdapter, ask: AskCargo | undefined): Promise<string>
}

/** Runs `cargo metadata` in a package; rejects where it may not be started. */
export type AskCargo = (root: string) => Promise<ProcessResult>

/** How long the project of a directory is remembered, ms. */
const ROOT_AGE = 5000
const REMEMBERED = 1000

const Metadata = z.looseObject({ workspace_root: z.string() })

export function createRoots({ files, clock }: Pick<NativeHost['effects'], 'files' | 'clock'>): Roots {
  const roots = createLru<string, { readonly root: string; readonly at: number }>(REMEMBERED)
  /** Of a project and its manifest as it is. */
  const workspaces = createLru<string, Promise<string>>(REMEMBERED)

  async function hasMarker(directory: string, markers: readonly string[]): Promise<boolean> {
    for (const marker of markers) {
      if (isWide(marker)) continue
      if ((await files.entry(`${directory}/${marker}`).catch(() => undefined)) !== undefined) return true
    }
    const wide = markers.filter(isWide)
    if (wide.length === 0) return false
    const entries = await files.readDirectory(directory).catch(() => [])
    return entries.some(({ name }) => wide.some((marker) => isMarker(marker, name)))
  }

  async function nearest(directory: string, parent: string, markers: readonly string[]): Promise<string> {
    for (let at = parent; isWithin(directory, at); at = at.slice(0, at.lastIndexOf('/')) || '/') {
      if (await hasMarker(at, markers)) return at
      if (at === directory || at === '/') break
    }
    return directory
  }

  /** The workspace of cargo that a package is in; the package where cargo is not there, says nothing or names a place outside. */
  async function cargoRoot(directory: string, root: string, ask: AskCargo | undefined): Promise<string> {
    const manifest = await files.stat(`${root}/Cargo.toml`).catch(() => undefined)
    if (manifest === undefined) return root
    const key = [directory, root, manifest.identity].join('\0')
    const before = workspaces.get(key)
    if (before !== undefined || ask === undefined) return before ?? root
    const known = askCargo(root, ask).then((said) => (isWithin(directory, said) ? said : root))
    workspaces.set(key, known)
    return known
  }

  async function askCargo(root: string, ask: AskCargo): Promise<string> {
    try {
      const { exitCode, stdout, captureTruncated } = await ask(root)
      return exitCode === 0 && !captureTruncated ? Metadata.parse(parseForeign(stdout, MESSAGE_BOUNDS)).workspace_root : root
    } catch {
      return root
    }
  }

  return {
    async of(directory, path, { id, markers, rootStrategy }, ask) {
      const parent = path.slice(0, path.lastIndexOf('/')) || '/'
      if (markers.length === 0 || !isWithin(directory, parent)) return directory
      const mayAsk = rootStrategy === 'cargoMetadata' && ask !== undefined
      const key = [directory, id, rootStrategy, mayAsk, parent, ...markers].join('\0')
      const known = roots.get(key)
      if (known !== undefined && clock.monotonic() - known.at < ROOT_AGE) return known.root
      const found = await nearest(directory, parent, markers)
      const root = rootStrategy === 'cargoMetadata' ? await cargoRoot(directory, found, ask) : found
      roots.set(key, { root, at: clock.monotonic() })
      return root
    },
  }
}
