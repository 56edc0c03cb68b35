// @ts-check
// Serves an application with the API below `/deep/flags` and the dashboard below `/deep/ui` until it
// is stopped. Prints its URL.
import { createServer } from 'node:http'
import { createDashboard } from '@ff/dashboard'
import { toNodeHandler as toDashboardHandler } from '@ff/dashboard/node'
import { createManagement } from '@ff/management/node'
import { createFlagServer } from '@ff/server'
import { toNodeHandler } from '@ff/server/node'

const flags = createFlagServer({ basePath: '/deep/flags', management: createManagement() })
const api = toNodeHandler(flags)
const dashboard = toDashboardHandler(
  createDashboard({ basePath: '/deep/ui', apiPath: '/deep/flags' }),
)
const server = createServer((request, response) => {
  api(request, response, () => {
    dashboard(request, response, () => {
      response.writeHead(404)
      response.end('not in the app')
    })
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  process.stdout.write(`http://127.0.0.1:${port}\n`)
})
