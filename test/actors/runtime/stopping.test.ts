import { expect, it, vi } from 'vitest'
import { startTestService } from '../../fakes/service.js'

it('says why it ends with an error when the store cannot be closed in order', async () => {
  const service = await startTestService()
  vi.spyOn(service.store, 'close').mockImplementationOnce(() => {
    throw new Error('there is no room')
  })
  expect(await service.running.stop()).toEqual({ exitCode: 1 })
  expect(service.effects.logs.filter(({ level }) => level === 'error')).toMatchObject([
    { message: expect.stringContaining('could not be closed') as string, fields: { cause: 'there is no room' } },
  ])
})
