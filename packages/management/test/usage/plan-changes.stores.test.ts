import { describe, expect, it, onTestFinished } from 'vitest'
import { storeNames } from '../../../../scripts/test-selection.ts'
import { evaluate } from '../../../server/test/call.ts'
import { FakeClock } from '../../../server/test/fake-clock.ts'
import { SYSTEM } from '../../src/index.ts'
import { createManagedServer } from '../world/managed-server.ts'
import { STORES_OF } from '../world/managed-stores.ts'

const CONTEXT = { kind: 'user', key: 'user-1' }

describe.each(storeNames())('the API calls around a change of the plan in %s', (name) => {
  it('Calls that a process has answered just before a change of the plan belong to the period before it', async () => {
    const [options] = await STORES_OF[name]()
    const clock = new FakeClock()
    const flags = createManagedServer({ ...options, clock })
    onTestFinished(() => flags.close())
    await flags.start()
    const management = flags.as(SYSTEM)
    const { id: orgId } = await management.createOrganization({ body: { name: 'Acme' } })
    const project = await management.createProject({ params: { orgId }, body: { key: 'shop' } })
    const [projectId, environmentId = ''] = [project.id, project.environments[0]?.id]
    const params = { projectId, environmentId }
    const { key } = await management.createSdkKey({ params, body: { name: 'app', kind: 'server' } })
    const { id: planId } = await management.createPlan({
      body: { name: 'Team', maxApiCalls: 100, graceBufferPct: 0, overageRateEurCents: 100 },
    })
    const usage = async () =>
      (await management.getOrganizationUsage({ params: { orgId } })).apiUsage
    const setPlan = (id: string | null) =>
      management.setOrganizationPlan({ params: { orgId }, body: { planId: id } })

    for (let n = 0; n < 5; n += 1) await evaluate(flags, key, CONTEXT)
    await setPlan(planId)
    expect(await usage()).toBe(0)

    for (let n = 0; n < 3; n += 1) await evaluate(flags, key, CONTEXT)
    await setPlan(null)
    const [invoice] = (await management.listInvoices({ params: { orgId } })).invoices
    expect(invoice?.metadata).toMatchObject({ api_usage: 3 })
    await clock.advance(20_000)
    expect(await usage()).toBe(0)
  })
})
