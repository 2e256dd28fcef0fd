/** Failures of the file system as sentences the model can act on. */
import { ToolError } from '../../../ports/plugin.js'
import { messageOf } from '../../../protocol/message-of.js'

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of the path is a file, not a directory',
  EISDIR: 'it is a directory',
  EACCES: 'the operating system denies access',
  EPERM: 'the operating system denies access',
  EEXIST: 'something else is in the way',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
}

/** `code` of a Node error, or undefined. */
function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** The error of a failed access as a `ToolError`; a `ToolError` stays itself. `doing` reads like "read src/a.ts". */
export function fileFailure(doing: string, error: unknown): ToolError {
  if (error instanceof ToolError) return error
  const reason = REASONS[errorCode(error) ?? '']
  if (reason !== undefined) return new ToolError(`Cannot ${doing}: ${reason}.`)
  return new ToolError(`Cannot ${doing}: ${messageOf(error)}`)
}
