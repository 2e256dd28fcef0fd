/** Names of machines and folders: of letters that every orchestrator takes, and short, because paths of sockets end at 107 bytes. */
import { createHash } from 'node:crypto'
import { nameOf, type Allocation, type WorkspaceKey } from '../records/machines.js'

export const shortName = (owner: WorkspaceKey): string => createHash('sha256').update(nameOf(owner)).digest('hex').slice(0, 16)

export const machineName = ({ owner, generation }: Allocation): string => `svc-${shortName(owner)}-${generation}`
