/**
 * Which file a call is about (sessions-events §8.9, §10.2; threat-model F1).
 *
 * Owns the canonical path of every call between its judgement and its execution; owns no file.
 *
 * I1 A path is judged with all links resolved, also when its last parts do not exist yet.
 * I2 What is opened is the very path that was judged: when links changed in between, or nothing was judged, the call fails.
 * I3 At most `REMEMBERED` judgements are kept; the oldest is forgotten first, which I2 turns into a failure.
 */
import type { NativeHost, PermissionNeed, ToolContext } from '../../../ports/plugin.js'
import { ToolError } from '../../../ports/plugin.js'
import { widerDirectory } from '../../../machines/permission/wider-directory.js'
import { canonicalPath } from '../../../protocol/text/canonical-path.js'
import { isWithin } from '../../../protocol/caller.js'
import { createLru } from '../../../kernel/lru.js'
import { fileFailure } from './failures.js'
import { basename, dirname, joinPath, resolvePath } from '../../../protocol/text/paths.js'

const REMEMBERED = 4096

export interface Target {
  /** Canonical and absolute. */
  readonly path: string
  /** Relative to the session directory when inside it (`.` for itself), else absolute. */
  readonly display: string
  readonly inside: boolean
}

export interface Targets {
  /** What the call must be allowed to do: `permission` on the target, and `external_directory` when it lies outside. */
  judge(requested: string, context: ToolContext, access: Access): Promise<readonly PermissionNeed[]>
  /** Like `judge`, for a call that shows what is in the target when it is a file. */
  judgeShowing(requested: string, context: ToolContext, access: Access): Promise<readonly PermissionNeed[]>
  /** The target that was judged for this call by that name; at most once per call. */
  confirm(requested: string, context: ToolContext): Promise<Target>
}

interface Access {
  readonly permission: string
  /** Verb of the permission title, e.g. `Read`. */
  readonly verb: string
  /** Changes the file, so protected files need an explicit answer. */
  readonly changes: boolean
}

type Host = Pick<NativeHost, 'protectedFiles'> & { readonly effects: Pick<NativeHost['effects'], 'files' | 'paths'> }

export function createTargets(host: Host): Targets {
  const { files, paths } = host.effects
  const judged = createLru<string, string>(REMEMBERED) // I3

  const locate = async (requested: string, context: ToolContext) => {
    if (requested.includes('\0')) throw new ToolError('The path contains a NUL character.')
    const lexical = resolvePath(context.directory, expandHome(requested, paths.home))
    const path = await canonicalPath((each) => files.realPath(each), lexical).catch((error: unknown) => {
      throw fileFailure(`resolve ${lexical}`, error)
    })
    return { lexical, target: describe(path, context.directory) }
  }

  const externalPattern = async (target: Target): Promise<string> => {
    const stat = await files.stat(target.path).catch(() => undefined)
    return joinPath(stat?.kind === 'directory' ? target.path : dirname(target.path), '*')
  }

  /** A protected file may be a link: then it counts by its own place as well as by where it leads. */
  const reasonOf = async (lexical: string, { path }: Target): Promise<string | undefined> => {
    const folder = await canonicalPath((each) => files.realPath(each), dirname(lexical)).catch(() => dirname(path))
    const own = joinPath(folder, basename(lexical))
    const reasons = await host.protectedFiles.reasons(own === path ? [path] : [path, own])
    return reasons.find((reason) => reason !== undefined)
  }

  const judge: Targets['judge'] = async (requested, context, access) => {
    const { lexical, target } = await locate(requested, context)
    judged.set(keyOf(context, requested), target.path)
    const reason = access.changes ? await reasonOf(lexical, target) : undefined
    const need: PermissionNeed = {
      permission: access.permission,
      patterns: spellings(lexical, target, context.directory),
      title: `${access.verb} ${target.display}`,
      metadata: { path: target.path },
      ...(reason !== undefined && { explicit: reason }),
    }
    if (target.inside) return [need]
    const pattern = await externalPattern(target)
    const title = `${access.verb} outside the session directory: ${target.path}`
    return [{ permission: 'external_directory', patterns: [pattern], widen: widerDirectory, title, metadata: { path: target.path } }, need]
  }

  return {
    judge,

    async judgeShowing(requested, context, access) {
      const needs = await judge(requested, context, access)
      const { target } = await locate(requested, context)
      const stat = await files.stat(target.path).catch(() => undefined)
      if (stat?.kind === 'directory') return needs
      return [...needs, ...needs.slice(-1).map(({ patterns, title, metadata = {} }) => ({ permission: 'read', patterns, title, metadata }))]
    },

    async confirm(requested, context) {
      const key = keyOf(context, requested)
      const expected = judged.get(key)
      judged.delete(key)
      if (expected === undefined)
        throw new ToolError('Access to this path was not checked for this call, or the check is too old. Call again.')
      const { target } = await locate(requested, context)
      if (target.path === expected) return target
      throw new ToolError(`The path led to ${expected} when access was checked and now leads to ${target.path}. Nothing was done.`)
    },
  }
}

export function describe(path: string, directory: string): Target {
  const inside = isWithin(directory, path)
  if (!inside) return { path, display: path, inside }
  if (path === directory) return { path, display: '.', inside }
  return { path, display: path.slice(directory === '/' ? 1 : directory.length + 1), inside }
}

/** The canonical target, and the name it was called by when that is another one inside the session directory: a rule on either holds. */
function spellings(lexical: string, target: Target, directory: string): string[] {
  if (lexical === target.path || !isWithin(directory, lexical)) return [target.display]
  return [target.display, describe(lexical, directory).display]
}

function expandHome(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? home + path.slice(1) : path
}

function keyOf(context: ToolContext, requested: string): string {
  return `${context.sessionId}\0${context.callId}\0${requested}`
}
