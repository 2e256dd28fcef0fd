/** The model that stands for whoever answers a session by working itself: it has no window that we know, no tools of ours, and makes no titles. */
import type { ResolvedModel } from '../../ports/facades.js'
import type { ProviderContribution } from '../../ports/plugin.js'
import { ProviderError } from '../../ports/provider-adapter.js'
import type { ModelRef } from '../../protocol/message/message.js'
import { makeModel } from './catalog/models.js'

const OWNER = { npm: '', auth: 'none', baseURL: undefined, compatibility: { streamUsage: false, reasoningEffort: false } } as const

export function workerModel(worker: NonNullable<ProviderContribution['worker']>, { providerId, id }: ModelRef): ResolvedModel {
  const { record } = makeModel({ ...OWNER, id: providerId }, id, { toolCall: false })
  return {
    ref: { providerId, id },
    model: { ...record, capabilities: { ...record.capabilities, titles: false } },
    adapter: {
      generate: () =>
        Promise.reject(new ProviderError(`The agent "${id}" answers the prompts of its sessions, and nothing else.`, { retryable: false })),
    },
    worker: worker.create(id),
    options: {},
  }
}
