/** Fits requests to what a model can take, so that adapters need not know models (subsystems c.9). */
import type { ModelMessage, ProviderAdapter, UserContent } from '../../ports/provider-adapter.js'
import type { CatalogModel } from './catalog/models.js'
import { explained, type Reached } from './explain.js'

/** The adapter as one model sees it: its wire id and headers, and nothing sent that it cannot take. */
export function fitAdapter(adapter: ProviderAdapter, model: CatalogModel, provider: Omit<Reached, 'wireId'>): ProviderAdapter {
  const { input = {}, temperature, toolCall, interleaved, reasoning } = model.record.capabilities
  const takes = (mime: string) => mime.startsWith('text/') || isTrue(input, modalityOf(mime))
  const reasoningField = fieldOf(interleaved)
  const hidden = Object.fromEntries(Object.entries(model.headers).filter(([name]) => !Object.hasOwn(model.record.headers, name)))
  return {
    generate(request, push, signal) {
      const { temperature: wanted, ...rest } = request
      const fitted = {
        ...rest,
        ...(wanted === undefined || temperature === false ? {} : { temperature: wanted }),
        ...(reasoningField === undefined ? {} : { reasoningField }),
        ...(reasoning === true && { reasons: true as const }),
        model: { ...request.model, id: model.wireId },
        messages: request.messages.map((message) => withoutMedia(message, takes)),
        tools: toolCall === false ? [] : request.tools,
        headers: request.headers === undefined ? model.headers : { ...request.headers, ...hidden },
      }
      return adapter.generate(fitted, push, signal).catch((error: unknown) => {
        throw signal.aborted ? error : explained(error, { ...provider, wireId: model.wireId })
      })
    },
  }
}

function withoutMedia(message: ModelMessage, takes: (mime: string) => boolean): ModelMessage {
  if (message.role === 'user' && message.content.some((part) => part.type === 'file' && !takes(part.file.mime))) {
    return {
      role: 'user',
      content: message.content.map((part) => (part.type === 'file' && !takes(part.file.mime) ? note(part.file) : part)),
    }
  }
  if (message.role === 'tool' && message.results.some(({ attachments }) => attachments?.some(({ mime }) => !takes(mime)))) {
    const results = message.results.map(({ attachments = [], output, ...result }) => {
      const refused = attachments.filter(({ mime }) => !takes(mime))
      const kept = attachments.filter(({ mime }) => takes(mime))
      const text = [output, ...refused.map((file) => note(file).text)].join('\n')
      return { ...result, output: text, ...(kept.length === 0 ? {} : { attachments: kept }) }
    })
    return { role: 'tool', results }
  }
  return message
}

function note(file: { readonly mime: string; readonly filename?: string | undefined }): Extract<UserContent, { type: 'text' }> {
  return { type: 'text', text: `[${file.filename ?? 'attachment'} (${file.mime}) was not sent: the model does not take it]` }
}

function modalityOf(mime: string): string {
  return mime === 'application/pdf' ? 'pdf' : (mime.split('/')[0] ?? '')
}

function isTrue(record: unknown, key: string): boolean {
  return typeof record === 'object' && record !== null && Object.entries(record).some(([name, value]) => name === key && value === true)
}

function fieldOf(interleaved: unknown): string | undefined {
  if (typeof interleaved !== 'object' || interleaved === null || !('field' in interleaved)) return undefined
  return typeof interleaved.field === 'string' ? interleaved.field : undefined
}
