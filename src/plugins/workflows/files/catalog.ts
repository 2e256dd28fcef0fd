/** Which files define which workflows: precedence by id over the roots of a context (subsystems a.1). */
import type { WorkflowDefinition, WorkflowDiagnostic } from '../../../protocol/workflow/workflow.js'
import { compareBytes } from './scan.js'
import type { Root } from './places.js'
import type { Source, Sources } from './sources.js'

/** A workflow and the file that defines it. */
export interface Found {
  readonly id: string
  readonly definition: WorkflowDefinition
  readonly sourcePath: string
  readonly sourceHash: string
  readonly root: Root
}

const byIdOf = new WeakMap<Sources, ReadonlyMap<string, readonly Found[]>>()

/** The file that defines a workflow: of the last root, and there the last file. */
export function findWorkflow(roots: readonly Sources[], id: string): Found | undefined {
  for (const sources of roots.toReversed()) {
    const found = byId(sources).get(id)?.at(-1)
    if (found !== undefined) return found
  }
  return undefined
}

/** Every id that some file defines. */
export function workflowIds(roots: readonly Sources[]): Set<string> {
  return new Set(roots.flatMap((sources) => [...byId(sources).keys()]))
}

/** Workflows by id, and what is wrong with files; one bad file hides no other. */
export function listWorkflows(roots: readonly Sources[]): {
  readonly workflows: readonly Found[]
  readonly diagnostics: WorkflowDiagnostic[]
} {
  const ids = [...workflowIds(roots)].toSorted(compareBytes)
  return { workflows: ids.flatMap((id) => findWorkflow(roots, id) ?? []), diagnostics: roots.flatMap(diagnosticsOf) }
}

/** The file at a path, valid or not. */
export function sourceAt(roots: readonly Sources[], path: string): Source | undefined {
  for (const { files } of roots) {
    const source = files.get(path)
    if (source !== undefined) return source
  }
  return undefined
}

/** Ids whose defining file may be another one now. */
export function changedIds(before: Sources | undefined, after: Sources): Set<string> {
  const ids = new Set<string>()
  const note = (source: Source | undefined) => {
    if (source?.content.ok === true) ids.add(source.content.definition.id)
  }
  for (const [path, source] of after.files) {
    const old = before?.files.get(path)
    if (old !== undefined && old.content === source.content && old.order === source.order) continue
    note(old)
    note(source)
  }
  for (const [path, old] of before?.files ?? []) if (!after.files.has(path)) note(old)
  return ids
}

/** What is wrong with one file, in one sentence. */
export function whatIsWrong(source: Source): string {
  if (source.content.ok) return ''
  return source.content.mistakes.map(({ message, line }) => (line === undefined ? message : `line ${line}: ${message}`)).join('; ')
}

function byId(sources: Sources): ReadonlyMap<string, readonly Found[]> {
  const known = byIdOf.get(sources)
  if (known !== undefined) return known
  const made = new Map<string, Found[]>()
  for (const { path, content } of sources.files.values()) {
    if (!content.ok) continue
    const { definition, hash } = content
    const found = { id: definition.id, definition, sourcePath: path, sourceHash: hash, root: sources.root }
    const others = made.get(definition.id)
    if (others === undefined) made.set(definition.id, [found])
    else others.push(found)
  }
  byIdOf.set(sources, made)
  return made
}

function diagnosticsOf(sources: Sources): WorkflowDiagnostic[] {
  const diagnostics = sources.problems.map((problem): WorkflowDiagnostic => ({ ...problem }))
  for (const { path, content } of sources.files.values())
    if (!content.ok) diagnostics.push(...content.mistakes.map((mistake) => ({ sourcePath: path, ...mistake })))
  for (const [id, all] of byId(sources)) {
    const last = all.at(-1)
    for (const { sourcePath } of all.slice(0, -1))
      diagnostics.push({ sourcePath, message: `has no effect: ${last?.sourcePath} has the same id "${id}" and comes later` })
  }
  return diagnostics
}
