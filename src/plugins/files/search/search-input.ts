/** Parameters `grep` and `glob` share, and the tree they mean. */
import * as z from 'zod'
import type { NativeHost, ToolContext } from '../../../ports/plugin.js'
import { ToolError } from '../../../ports/plugin.js'
import { LIMITS } from '../../../protocol/limits.js'
import { fileFailure } from '../places/failures.js'
import { missingFile } from '../places/missing.js'
import { basename, dirname, joinPath } from '../../../protocol/text/paths.js'
import { splitGlobs, type Tree } from './search.js'
import { describe, type Target } from '../places/targets.js'

const glob = z.string().min(1).max(1000)

export const sharedInput = {
  path: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe('Directory (or file) to search: absolute, or relative to the session directory. Default: the session directory.'),
  includeHidden: z.boolean().optional().describe('Search hidden files and directories too. Default false.'),
  timeout: z.int().min(1000).max(300_000).optional().describe(`Time limit in milliseconds. Default ${LIMITS.tools.searchTimeout}.`),
}

export const globList = z.union([glob, z.array(glob).max(50)])

export interface TreeInput {
  readonly path?: string | undefined
  readonly includeHidden?: boolean | undefined
  readonly timeout?: number | undefined
  readonly include?: string | readonly string[] | undefined
  readonly exclude?: string | readonly string[] | undefined
}

/** The tree to search; throws `ToolError` when the target is not there. */
export async function treeOf(
  files: NativeHost['effects']['files'],
  target: Target,
  { input, context }: { input: TreeInput; context: ToolContext },
): Promise<Tree> {
  const stat = await files.stat(target.path).catch((error: unknown) => {
    throw fileFailure(`search ${target.display}`, error)
  })
  if (stat === undefined) throw await missingFile(target, context.directory, files)
  if (stat.kind === 'other') throw new ToolError(`${target.display} is neither a file nor a directory.`)
  const single = stat.kind === 'file'
  return {
    root: single ? dirname(target.path) : target.path,
    file: single ? basename(target.path) : undefined,
    ...splitGlobs(listOf(input.include), listOf(input.exclude)),
    includeHidden: input.includeHidden === true,
    signal: context.signal,
    timeoutMs: input.timeout ?? LIMITS.tools.searchTimeout,
  }
}

/** A path of an answer as it is shown and can be given back to other tools. */
export function displayFound(tree: Tree, path: string, directory: string): string {
  return describe(joinPath(tree.root, path), directory).display
}

export function listOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}

export function timedOut(tree: Tree): ToolError {
  return new ToolError(
    `The search took longer than ${tree.timeoutMs} ms. Search a narrower path, add include globs, or raise the timeout.`,
    { timedOut: true },
  )
}
