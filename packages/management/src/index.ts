export {
  type Actor,
  type AuthenticateBearer,
  type FindActor,
  type IdentifyUser,
  SYSTEM,
  tokenAuthenticator,
} from './access/actors.ts'
export type { ManagementUseCases } from './api/use-cases.ts'
export { type As, createManagement } from './create-management.ts'
export type { ManagementOptions } from './management-options.ts'
export type { DocsAsset, ReadDocsAsset } from './ports/docs-assets.ts'
export type { AuthorizationChecks, Identity, IdentityProvider } from './ports/identity-provider.ts'
export type { PasswordHasher, PasswordVerdict } from './ports/password-hasher.ts'
export type {
  PaymentCheckout,
  PaymentCustomer,
  PaymentEvent,
  PaymentInvoice,
  PaymentSubject,
  PaymentSubscription,
} from './ports/payment-event.ts'
export type {
  CheckoutOrder,
  NewCustomer,
  OverageCharge,
  PaymentDelivery,
  Payments,
} from './ports/payments.ts'
export type { WebhookAnswer, WebhookRequest, WebhookSender } from './ports/webhook-sender.ts'
export type { NeededProject, ProjectSetUp } from './set-up/ensure-project.ts'
export type { Administrator } from './users/administrator.ts'
