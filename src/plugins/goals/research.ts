/** Pages as a service on the web reads them, for notes of a goal (subsystems j). There is one when its key is in the environment. */
import { cut } from '../../kernel/cut.js'
import * as z from 'zod'
import type { NativeHost } from '../../ports/plugin.js'
import { readAnswer } from '../../protocol/text/bounded-answer.js'
import { SvcError } from '../../protocol/errors.js'
import { parseForeign } from '../../protocol/text/foreign-json.js'
import { LIMITS } from '../../protocol/limits.js'
import { timeLimit } from '../../kernel/patience.js'
import type { GoalResearchNote } from '../../protocol/session/goal.js'
import { messageOf } from '../../protocol/message-of.js'

const { research: TIME, researchBytes: BYTES, note: LENGTH } = LIMITS.goals
const SERVICE = 'https://api.firecrawl.dev'
const Answer = z.looseObject({ data: z.looseObject({ markdown: z.string() }) })

export interface Research {
  readonly isEnabled: boolean
  /** What a page says, cut to size. Throws `request.invalid` without a service and for what is no http address, `request.unprocessable` when it could not be read. */
  read(url: string, signal: AbortSignal): Promise<GoalResearchNote>
}

export function createResearch(
  { effects }: { readonly effects: Pick<NativeHost['effects'], 'fetch' | 'clock'> },
  env: Readonly<Record<string, string | undefined>>,
): Research {
  const key = env['FIRECRAWL_API_KEY']?.trim() ?? ''
  const service = (env['FIRECRAWL_API_URL']?.trim() || SERVICE).replace(/\/+$/, '')

  async function scrape(url: string, signal: AbortSignal): Promise<string> {
    const response = await effects.fetch(`${service}/v1/scrape`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url, formats: ['markdown'], onlyMainContent: true }),
      redirect: 'manual',
      signal,
    })
    return Answer.parse(parseForeign(await readAnswer(response, BYTES))).data.markdown
  }

  return {
    isEnabled: key !== '',
    async read(url, signal) {
      if (key === '') throw new SvcError('request.invalid', 'Research is not set up on this server: FIRECRAWL_API_KEY is not set.')
      if (!/^https?:$/.test(protocolOf(url))) throw new SvcError('request.invalid', `"${url}" is no http or https address.`, { url })
      const limit = timeLimit(effects.clock, TIME, 'it took too long')
      try {
        const text = await scrape(url, AbortSignal.any([signal, limit.signal]))
        return { source: url, content: cut(text, LENGTH, ''), captured: effects.clock.now() }
      } catch (error) {
        const why =
          error instanceof z.ZodError || error instanceof SyntaxError ? 'the answer of the service is not understood' : messageOf(error)
        throw new SvcError('request.unprocessable', `The page could not be read: ${why}.`, { url })
      } finally {
        limit.clear()
      }
    },
  }
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : ''
}
