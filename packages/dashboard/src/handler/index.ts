export { createDashboard, type Dashboard } from './create-dashboard.ts'
export type { DashboardOptions } from './options.ts'
