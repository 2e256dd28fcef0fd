/**
 * Workflow files that are written through the API (subsystems a.12; threat-model F1–F3).
 *
 * I1 Writes happen one after the other, and the revision is compared in the same turn of them as the file is written.
 * I2 A file is written where the workspace really is: a link on the way that leads elsewhere is refused, not followed.
 */
import { createLane } from '../../../kernel/lane.js'
import { isWithin } from '../../../protocol/caller.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { WorkflowDefinition } from '../../../protocol/workflow/workflow.js'
import type { Effects } from '../../../ports/effects.js'
import { dirname, joinPath } from '../../../protocol/text/paths.js'
import { serialiseWorkflow } from './file.js'
import { type Context, managedFolder } from './places.js'

type ManagedEffects = Pick<Effects, 'files' | 'sha256'>

export interface ManagedFile {
  /** Canonical as far as it exists. */
  readonly path: string
  /** Hash of what is there, valid or not; undefined when there is nothing. */
  readonly hash: string | undefined
}

export interface Managed {
  read(context: Context, id: string): Promise<ManagedFile>
  /**
   * Writes the file of a definition. `check` sees what is there just before and throws to refuse. Answers the hash of the
   * new content.
   */
  write(context: Context, definition: WorkflowDefinition, check: (file: ManagedFile) => void): Promise<string>
  remove(context: Context, id: string, check: (file: ManagedFile) => void): Promise<void>
}

const MANAGED_ID = /^[a-z0-9][a-z0-9._-]{0,127}$/

export function createManaged(effects: ManagedEffects): Managed {
  const { files, sha256 } = effects
  const writes = createLane({
    most: LIMITS.management.waiting,
    full: () => new SvcError('quota.exceeded', 'Too many writes wait for their turn.'),
  }) // I1

  async function read(context: Context, id: string): Promise<ManagedFile> {
    const { path } = await managedPath(effects, context, id)
    const stat = await files.stat(path).catch(() => undefined)
    if (stat === undefined) return { path, hash: undefined }
    return { path, hash: sha256(await files.read(path, LIMITS.workflows.fileBytes)) }
  }

  return {
    read,
    write: (context, definition, check) =>
      writes.run(async () => {
        const { folder, path } = await managedPath(effects, context, definition.id)
        if (!context.isInstallation && !isWithin(context.directory, folder)) throw misplaced(folder) // I2
        check(await read(context, definition.id))
        const text = serialiseWorkflow(definition)
        if (new TextEncoder().encode(text).length > LIMITS.workflows.fileBytes) {
          throw new SvcError('management.invalid_request', `The file would be larger than ${LIMITS.workflows.fileBytes} bytes.`)
        }
        await files.makeDirectory(folder)
        if ((await files.realPath(folder)) !== folder) throw misplaced(folder)
        await files.writeAtomic(path, text, { canonical: true })
        return sha256(text)
      }),
    remove: (context, id, check) =>
      writes.run(async () => {
        const file = await read(context, id)
        check(file)
        await files.remove(file.path)
      }),
  }
}

/** Where the file of an id is kept; throws `resource.not_found` for what is no id. */
export async function managedPath(
  { files }: Pick<Effects, 'files'>,
  context: Context,
  id: string,
): Promise<{ readonly folder: string; readonly path: string }> {
  if (!MANAGED_ID.test(id)) throw new SvcError('resource.not_found', `There is no workflow "${id}".`, { workflowId: id })
  const folder = await canonicalFolder(files, managedFolder(context))
  return { folder, path: joinPath(folder, `${id}.md`) }
}

/** The canonical path of what exists of a folder, and the names of the rest. */
async function canonicalFolder(files: Effects['files'], folder: string): Promise<string> {
  const canonical = await files.realPath(folder).catch(() => undefined)
  if (canonical !== undefined) return canonical
  const parent = dirname(folder)
  return joinPath(parent === folder ? folder : await canonicalFolder(files, parent), folder.slice(folder.lastIndexOf('/') + 1))
}

function misplaced(folder: string): SvcError {
  return new SvcError('management.read_only', `Workflows are not written to ${folder}: a link leads there from the workspace.`, { folder })
}
