/** What makes machines. The bridge sees to who may ask what (bridge/machines.ts): a driver does as it is told, one call a workspace at a time. */
import type { Allocation, Capabilities, MachineStatus } from '../records/machines.js'

/** Of one machine, under one generation. */
export type Place = Pick<MachineStatus, 'state' | 'ready'> & { readonly baseUrl?: string | undefined }

export interface Driver {
  readonly capabilities: Capabilities
  /** Whether workers are reached by https; else they are on this machine, on loopback. */
  readonly transport: 'https' | 'development_loopback_http'
  /** A name that the machine of this allocation has, and no other. */
  machineId(allocation: Allocation): string
  /** Makes it run, from its volume, whatever there was of it. */
  start(allocation: Allocation): Promise<Place>
  inspect(allocation: Allocation): Promise<Place>
  /** Ends it gently, and then not; the volume stays. */
  stop(allocation: Allocation): Promise<Place>
  /** Takes the machine away, and the volume too when it is asked to. */
  remove(allocation: Allocation, what: 'machine' | 'machine and volume'): Promise<void>
}
