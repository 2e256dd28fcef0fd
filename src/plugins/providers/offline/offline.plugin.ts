/** Native plugin `dev.svc.offline`: the provider `svc`, so that svc runs before any model is configured. */
import type { NativePlugin } from '../../../ports/plugin.js'
import { createOfflineAdapter } from './adapter.js'

/** The plugin; its one model is `svc/offline`. */
export function createOfflinePlugin(): NativePlugin {
  return {
    id: 'dev.svc.offline',
    name: 'Offline assistant',
    capability: { id: 'svc.providers.offline', apiPrefix: '/v2/providers' },
    requires: ['svc.providers'],
    start: ({ effects }) => ({
      providers: [
        {
          npm: ['svc'],
          builtin: {
            id: 'svc',
            name: 'svc',
            models: [
              { id: 'offline', name: 'Offline assistant (not an AI)', limit: { context: 128_000, output: 32_000 }, reasoning: true },
            ],
          },
          create: (settings) => createOfflineAdapter(settings, effects),
        },
      ],
    }),
  }
}
