/** What a generation of a worker is started with. */
import { randomUUID } from 'node:crypto'
import type { WorkerLaunchDescriptor } from '../records/machines.js'
import type { ControllerConfig } from './config.js'

export interface Launches {
  next(): WorkerLaunchDescriptor
  /** Seconds that are left of it. */
  left(launch: WorkerLaunchDescriptor): number
}

export const seconds = (): number => Math.floor(Date.now() / 1000)

export function createLaunches({ launch, times }: Pick<ControllerConfig, 'launch' | 'times'>, verificationKey: string): Launches {
  return {
    next: () => ({
      version: 1,
      runtime_id: `rt-${randomUUID()}`,
      root: launch.root,
      state_root: launch.stateRoot,
      expires_at: seconds() + times.worker,
      verification_key: verificationKey,
    }),
    left: ({ expires_at }) => expires_at - seconds(),
  }
}
