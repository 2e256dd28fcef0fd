/** Workflow files on this machine, without a server. */
import { isUtf8 } from 'node:buffer'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve, sep } from 'node:path'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { readAtOnce } from '../../../kernel/work.js'
import type { WorkflowDefinition } from '../../../protocol/workflow/workflow.js'
import { parseWorkflowFile } from '../../../plugins/workflows/files/file.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { messageOf } from '../../../protocol/message-of.js'

export interface FileDiagnostic {
  readonly file: string
  readonly line?: number
  readonly message: string
  readonly code?: string
}

export interface CheckedFile {
  readonly file: string
  /** undefined when something is wrong with it. */
  readonly definition: WorkflowDefinition | undefined
  readonly diagnostics: readonly FileDiagnostic[]
}

export const FOLDERS = ['workflow', 'workflows'] as const

/** The zone of this machine. */
export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** Reads one file; what cannot be read is a diagnostic too. */
export function checkFile(file: string, home: string): CheckedFile {
  const text = readText(file)
  if (typeof text !== 'string') return { file, definition: undefined, diagnostics: [{ file, message: text.problem }] }
  const parsed = readAtOnce(parseWorkflowFile(text))
  if (!parsed.ok) return { file, definition: undefined, diagnostics: parsed.diagnostics.map((each) => ({ file, ...each })) }
  const problem = directoryProblem(file, parsed.definition.directory, home)
  if (problem === undefined) return { file, definition: parsed.definition, diagnostics: [] }
  const line = text.split('\n').findIndex((each) => /^["']?directory["']?\s*:/.test(each)) + 1
  return { file, definition: undefined, diagnostics: [{ file, ...(line > 0 && { line }), message: problem }] }
}

/** `file:line: message [code]`, as compilers say it. */
export function diagnosticText({ file, line, message, code }: FileDiagnostic): string {
  const suffix = code === undefined ? '' : ` [${code}]`
  return `${printable(file)}${line === undefined ? '' : `:${line}`}: ${printable(message)}${suffix}\n`
}

/** Every workflow file of a directory and below it, in order. Throws when there is no such file or directory. */
export function filesAt(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw new SvcError('resource.not_found', `there is no file or directory ${path}`)
  if (!found.isDirectory()) return [path]
  return filesBelow(path).toSorted()
}

/** Not by `recursive`, which follows links to directories on some versions of Node. */
function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return filesBelow(path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}

function readText(file: string): string | { readonly problem: string } {
  try {
    if (statSync(file).size > LIMITS.workflows.fileBytes) return { problem: `the file is larger than ${LIMITS.workflows.fileBytes} bytes` }
    const bytes = readFileSync(file)
    return isUtf8(bytes) ? bytes.toString('utf8') : { problem: 'is not valid UTF-8' }
  } catch (error) {
    return { problem: `cannot be read: ${messageOf(error)}` }
  }
}

/** Relative directories are known only for files of a workspace (service.md, `directory`). */
function directoryProblem(file: string, directory: string | undefined, home: string): string | undefined {
  if (directory === undefined) return undefined
  const path = /^~(?:\/|$)/.test(directory) ? join(home, directory.slice(1)) : directory
  const workspace = resolve(file).split(`${sep}.svc${sep}`)[0]
  const base = resolve(file).includes(`${sep}.svc${sep}${FOLDERS[0]}`) ? workspace : undefined
  if (!isAbsolute(path) && base === undefined) return undefined
  const full = isAbsolute(path) ? path : resolve(base ?? '.', path)
  const found = existsSync(full) ? statSync(full) : undefined
  return found?.isDirectory() ? undefined : `directory must be a directory that exists, not ${JSON.stringify(directory)}`
}
