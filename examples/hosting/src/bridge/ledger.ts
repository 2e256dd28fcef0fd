/** What a bridge knows of each workspace, a file each: written beside and renamed, so that it is the old or the new one. */
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { shortName } from '../drivers/names.js'
import { Allocation, type WorkspaceKey } from '../records/machines.js'

const Owned = z.strictObject({ allocation: Allocation, isDestroyed: z.boolean() })
export type Owned = z.infer<typeof Owned>

export interface Ledger {
  read(owner: WorkspaceKey): Promise<Owned | undefined>
  write(owned: Owned): Promise<void>
}

export async function openLedger(folder: string): Promise<Ledger> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const fileOf = (owner: WorkspaceKey) => join(folder, `${shortName(owner)}.json`)
  return {
    async read(owner) {
      try {
        return Owned.parse(JSON.parse(await readFile(fileOf(owner), 'utf8')))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
    },
    async write(owned) {
      const file = fileOf(owned.allocation.owner)
      const beside = await open(`${file}.new`, 'w', 0o600)
      try {
        await beside.writeFile(JSON.stringify(owned))
        await beside.sync()
      } finally {
        await beside.close()
      }
      await rename(`${file}.new`, file)
    },
  }
}
