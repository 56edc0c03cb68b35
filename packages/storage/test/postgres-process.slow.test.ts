import { expect, it, onTestFinished } from 'vitest'
import { PostgresProcess } from './postgres-process.ts'
import { readFromPostgres, runOnPostgres } from './postgres-schema.ts'

it('A durable PostgreSQL server keeps committed data when it is killed, and can be suspended', async () => {
  const server = await PostgresProcess.start({ isDurable: true })
  onTestFinished(() => server.remove())
  await runOnPostgres('create table kept (number int)', server.url)
  await runOnPostgres('insert into kept values (1)', server.url)
  await server.kill()
  await expect(runOnPostgres('select 1', server.url)).rejects.toThrow('ECONNREFUSED')
  await server.restart()
  expect(await readFromPostgres('select number from kept', server.url)).toEqual([{ number: 1 }])

  await server.suspend()
  const reading = readFromPostgres('select number from kept', server.url)
  const waiting = new Promise((resolve) => setTimeout(resolve, 300, 'no response'))
  expect(await Promise.race([reading, waiting])).toBe('no response')
  await server.resume()
  expect(await reading).toEqual([{ number: 1 }])
})
