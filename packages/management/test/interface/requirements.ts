/** A statement about the interface that the server guarantees. */
export interface Requirement {
  /** The id that test titles cite, such as `EVAL-3` in `[EVAL-3]`. */
  readonly id: string
  /** The statement. */
  readonly says: string
}

const STATEMENTS = {
  // The service
  'GEN-1': 'All paths are relative to a configurable base path.',
  'GEN-2': 'Targeting rules, segments and rollouts decide which variation a context receives.',
  'GEN-3': 'The evaluated value of every flag is available by request, long poll and WebSocket.',
  'GEN-4': 'Organizations own projects; projects own environments and flags.',
  'GEN-5': "Usage is limited by the organization's plan.",

  // The envelope of management responses
  'ENV-1':
    'Every management response is a JSON object with the number `statusCode`, the HTTP status.',
  'ENV-2': '`message` is text, `OK` by default.',
  'ENV-3': '`data` is the payload, an object or a list.',
  'ENV-4': 'Paginated payloads are `data.data`, a list, …',
  'ENV-5': '… with `data.meta`: the numbers `total`, `page` and `pageCount`.',

  // Contexts
  'CTX-1': 'A single-kind context has `kind`, `key` and any further attributes.',
  'CTX-2': 'A multi-kind context has kind `multi`, a `user` and an `organization`.',
  'CTX-3': 'The empty context `{}` is valid.',
  'CTX-4': 'The result is a flat object: flag key → value evaluated for the context.',
  'CTX-5': 'Values are booleans, strings, numbers and objects.',
  'CTX-6': 'The empty context matches no targeting rule: every flag serves its default.',
  'CTX-7':
    'A rollout requires a `key` in the context. Without it, the rollout assigns no variation.',
  'CTX-8': 'A rollout always assigns the same variation to the same key.',
  'CTX-9': 'The key is that of the user, in a single-kind or a multi-kind context.',

  // Targeting rules
  'RULE-1': '`id`, `flag_id`, `environment_id` and `project_id` are UUIDs.',
  'RULE-2': '`name` is text.',
  'RULE-3': '`conditions` is a list of conditions …',
  'RULE-4': '… that must all be true.',
  'RULE-5': '`segment_id` is a UUID or null.',
  'RULE-6': '`variation_id` is a UUID or null: the variation to serve if the rule matches.',
  'RULE-7': '`rollout_id` is a UUID or null: the rollout to use if the rule matches.',
  'RULE-8': '`order_index` is a number, 0 by default; …',
  'RULE-9': '… the lower is evaluated first.',
  'RULE-10': '`created_at` and `updated_at` are date-times.',
  'RULE-11': '`deleted_at` marks a soft deletion.',
  'RULE-12':
    '`segment_name`, `segment_description`, `segment_key`, `segment_logical_op` describe the segment.',
  'RULE-13': '`segment_rules` is a list of conditions.',
  'RULE-14': '`segment` is the segment itself.',
  'COND-1': 'A condition has the texts `attribute`, `operator` and `value`.',
  'COND-2': 'The operator `eq` compares for equality.',

  // Segments
  'SEG-1': '`id` and `project_id` are UUIDs.',
  'SEG-2': '`name`, `description` and `key` are texts.',
  'SEG-3': '`rules` is a list of `{attribute, value}`.',
  'SEG-4': '`created_at` and `updated_at` are date-times.',
  'SEG-5': '`force` is a boolean, false by default.',

  // Variations
  'VAR-1': '`id`, `flag_id` and `project_id` are UUIDs.',
  'VAR-2': '`key`, `name`, `description` and `value` are texts.',
  'VAR-3': '`is_default` is a boolean.',
  'VAR-4': '`order_index` is a number.',
  'VAR-5': '`created_at`, `updated_at` and `deleted_at` are date-times.',

  // Organizations
  'ORG-1': '`id` is a UUID, `name` a text.',
  'ORG-2': '`billing_email` is an e-mail address.',
  'ORG-3': '`created_at` is a date-time, `deleted_at` the marker of a soft deletion.',
  'ORG-4': '`metadata` is an object.',
  'ORG-5': '`plan_id` is the id of a plan, as text.',
  'ORG-6': '`flag_count`, `project_count` and `environment_count` are numbers, 0 by default.',
  'ORG-7': '`trial_starts_at`, `trial_ends_at` and `current_period_end` are date-times.',
  'ORG-8': '`api_usage` is a number, 0 by default.',
  'ORG-9': '`has_used_paid_trial` is a boolean, false by default.',

  // Plans
  'PLAN-1': '`id` is a UUID, `name` a text.',
  'PLAN-2':
    '`max_projects`, `max_flags`, `max_environments`, `max_api_calls`, `trial_days` are numbers.',
  'PLAN-3': 'Each of them may be null on input.',
  'PLAN-4': '`most_popular` is a boolean, false by default.',
  'PLAN-5': '`product_link` is a link to a checkout, or null.',
  'PLAN-6': '`deleted_at` marks a soft deletion.',
  'PLAN-7':
    '`stripe_product_id`, `stripe_price_id`, `stripe_monthly_price_id`, `stripe_annual_price_id` are text or null.',
  'PLAN-8': '`overage_rate_eur_cents`, `overage_block_size`, `grace_buffer_pct` are numbers.',

  // Invoices
  'INV-1': '`id` and `org_id` are UUIDs.',
  'INV-2': '`stripe_invoice_id` and `stripe_subscription_id` are texts.',
  'INV-3': '`amount_due` and `amount_paid` are numbers.',
  'INV-4': '`currency` and `status` are texts.',
  'INV-5': '`invoice_pdf` and `hosted_invoice_url` are texts.',
  'INV-6': '`period_start`, `period_end`, `due_date`, `paid_at` are date-times.',
  'INV-7': '`created_at` and `updated_at` are date-times.',
  'INV-8': '`metadata` is an object.',

  // Audit log entries
  'AUD-1': '`id`, `eventType`, `stream_id`, `org_id`, `project_id`, `actor_id` are texts.',
  'AUD-2': '`payload` is an object.',
  'AUD-3': '`created_at` is a date-time.',
  'AUD-4': '`actor` has the texts `id`, `email`, `name` and `role`.',

  // Observed contexts
  'OBS-1': '`id`, `env_id` and `org_id` are UUIDs.',
  'OBS-2': '`hash` is text.',
  'OBS-3': '`context_json` is JSON.',
  'OBS-4': '`first_seen` and `last_seen` are date-times.',
  'OBS-5': '`seen_count` is a number.',
  'OBS-6': '`evaluation_success` is a boolean.',
  'OBS-7': '`variation_results` and `source` are texts.',
  'OBS-8': '`deleted_at` is present.',

  // Flag metrics
  'MET-1': '`totalEvaluations` and `uniqueUsers` are `{value: number, change: number}`.',
  'MET-2': '`successRate` and `errorRate` are `{value: text, change: number}`.',
  'MET-3': '`avgResponseTime` is `{value: text, change: number}`.',
  'MET-4': '`variationPerformance` is a list of `{key, name, evaluations, percentage}`.',

  // Soft deletion
  'STATE-1': 'Deletion is soft: the record remains, with its `deleted_at` set.',

  // POST /evaluator/evaluate
  'EVAL-1': 'The SDK key is sent in the header `x-api-key`.',
  'EVAL-2': 'The body is `{context}`; the context is required.',
  'EVAL-3': 'The response is 200 with the flat object, without the envelope.',

  // POST /evaluator/poll
  'POLL-1': 'The SDK key is sent in the header `x-api-key`.',
  'POLL-2': 'The poll is pending until flags change. The response contains the updated flags.',
  'POLL-3': 'The poll receives a response after 60 seconds without a change.',

  // WebSocket
  'WS-1': 'The socket is opened at `/ws/sdk`.',
  'WS-2': 'The first message is `{type: "init", sdkKey, context}` with a single-kind context.',
  'WS-3': 'The server sends JSON texts with `flags`, the evaluations.',
  'WS-4': 'Later updates contain only the flags that changed.',

  // GET /audit/logs
  'LOGS-1': '`page` is a number from 1, …',
  'LOGS-2': '… 1 by default.',
  'LOGS-3': '`limit` is a number from 1 to 100, …',
  'LOGS-4': '… 50 by default.',
  'LOGS-5': '`event_type` filters.',
  'LOGS-6': '`actor_id` filters by the acting user.',
  'LOGS-7': '`org_id` filters.',
  'LOGS-8': '`project_id` filters.',
  'LOGS-9': '`from_date` is the ISO 8601 start.',
  'LOGS-10': '`to_date` is the ISO 8601 end.',
  'LOGS-11': '`source` is `redis` (recent), `database` (historical) or `both`, …',
  'LOGS-12': '… `both` by default.',
  'LOGS-13': '`sort` is `created_at`, `event_type` or `actor_id`, and `asc` or `desc`, …',
  'LOGS-14': '… `created_at:desc` by default.',
  'LOGS-15': '`data.data` are audit log entries, `data.meta` is `{total, page, pageCount}`.',

  // PUT …/targeting-rules/{ruleId}
  'PUTRULE-1': 'The path has four UUIDs, all required. Keys can replace the first three.',
  'PUTRULE-2': 'Every field of the body is optional.',
  'PUTRULE-3': '`name` changes the name.',
  'PUTRULE-4': '`kind` is `segment` for rules with a segment, `custom` for rules with conditions.',
  'PUTRULE-5': '`conditions` are required if `kind` is `custom`; all must be true.',
  'PUTRULE-6': '`segment_id` is a UUID or null.',
  'PUTRULE-7': '`variation_id` is a UUID or null.',
  'PUTRULE-8': '`rollout_id` is a UUID or null.',
  'PUTRULE-9': '`order_index` is a number; the lower is evaluated first.',
  'PUTRULE-10': '`data.rule` is the targeting rule.',
  'PUTRULE-11': '`data.message` is text.',

  // PUT /organizations/{orgId}
  'PUTORG-1': '`orgId` is a UUID, required.',
  'PUTORG-2': 'Every field of the body is optional.',
  'PUTORG-3': '`name` is text.',
  'PUTORG-4': '`billing_email` is an e-mail address.',
  'PUTORG-5': '`metadata_updates` is an object of entries to set.',
  'PUTORG-6': '`metadata_deletes` is a list of keys to remove.',
  'PUTORG-7': '`data` is the organization.',

  // POST and GET /plan-limits/plans
  'PLANS-1': '`name` is text, required.',
  'PLANS-2': '`most_popular` is a boolean, optional.',
  'PLANS-3': '`product_link` is text or null, optional.',
  'PLANS-4': 'The five limits are numbers or null, optional.',
  'PLANS-5': 'The four identifiers of the payment provider are text or null, optional.',
  'PLANS-6': '`data` is the plan.',
  'PLANS-7': 'GET has no parameters; `data` is the list of plans.',

  // PUT …/variations/reorder
  'ORDER-1': '`projectId` and `flagId` are UUIDs or keys.',
  'ORDER-2': '`orders` is required, a list of at least one …',
  'ORDER-3': '… `{id: UUID, order_index: number}`.',
  'ORDER-4': '`data` is the list of variations.',

  // GET /flags/{flagId}/metrics
  'METRICS-1': '`flagId` is a UUID.',
  'METRICS-2': '`environmentId` is a UUID, required.',
  'METRICS-3': '`period` is `24h`, the only value.',
  'METRICS-4': '`data` are the metrics of the flag.',

  // GET /contexts/observed-contexts
  'SEEN-1': '`page` is a whole number from 1, …',
  'SEEN-2': '… 1 by default.',
  'SEEN-3': '`perPage` is a whole number from 1 to 100, …',
  'SEEN-4': '… 20 by default.',
  'SEEN-5': '`kind` filters; it has at most 64 characters.',
  'SEEN-6': '`success` is a boolean that filters.',
  'SEEN-7': '`from` is a date-time.',
  'SEEN-8': '`to` is a date-time.',
  'SEEN-9': '`env_id` is a UUID that filters.',
  'SEEN-10': '`data.data` are observed contexts, `data.meta` is `{total, page, pageCount}`.',

  // GET /billing/organizations/{orgId}/invoices
  'BILL-1': '`orgId` is a UUID, required.',
  'BILL-2': '`data.invoices` is the list of invoices.',

  // Authentication
  'AUTH-1': 'Evaluation endpoints accept the SDK key only in `x-api-key`.',
  'AUTH-2': 'The socket accepts the SDK key in `sdkKey` of `init`.',
  'AUTH-3': 'Every management endpoint accepts `Authorization: Bearer <ACCESS_TOKEN>`.',
  'AUTH-4': 'An SDK key starts with `ff_`.',
  'AUTH-5': 'An SDK key is scoped to one project and one environment.',
  'AUTH-6': 'An SDK key is not an access token, nor a token of an administrator.',
  'AUTH-7': 'An SDK key permits only evaluation: it cannot create, update or delete flags.',
  'AUTH-8': 'An invalid SDK key yields 401.',
  'AUTH-9': 'An expired SDK key yields 401.',
  'AUTH-10': 'A revoked SDK key yields 401.',
  'AUTH-11': 'Management bodies are sent as `application/json`.',

  // Events
  'EVT-1': 'A configuration change is pushed immediately to sockets, as a message with `flags`.',
  'EVT-2': 'A poll receives a response when flags change, or after 60 seconds.',
  'EVT-3': 'Audit events are recorded with an `eventType` and read through `GET /audit/logs`.',
  'EVT-4': '`user.login_success` and `flag.updated` are such types.',

  // Errors
  'ERR-1': 'Evaluation errors are `{error: text, statusCode: number}`.',
  'ERR-2': '400: malformed JSON …',
  'ERR-3': '… or missing required fields.',
  'ERR-4': '401: invalid, expired or revoked SDK key.',
  'ERR-5': '429: rate limit exceeded; requests are accepted again after the reset time.',
  'ERR-6': '500: server-side failure.',

  // Limits
  'LIM-1': '`X-RateLimit-Limit` is the number of requests per window.',
  'LIM-2': '`X-RateLimit-Remaining` is the number of requests left in the window.',
  'LIM-3': '`X-RateLimit-Reset` is the Unix timestamp of the reset.',
  'LIM-4': 'A long poll is pending for at most 60 seconds.',
  'LIM-5': 'A change is visible over REST within 10 seconds, even if its hint is lost.',
  'LIM-6': 'Pages of the audit log have 1 to 100 entries, 50 by default.',
  'LIM-7': 'Pages of observed contexts have 1 to 100 records, 20 by default.',
  'LIM-8': 'A reorder has at least one entry.',
  'LIM-9': '`max_projects` limits projects.',
  'LIM-10': '`max_flags` limits flags.',
  'LIM-11': '`max_environments` limits environments.',
  'LIM-12': '`max_api_calls` is a soft limit of evaluations.',
  'LIM-13': '`trial_days` is the length of a trial in days.',
  'LIM-14':
    'Overage depends on `overage_rate_eur_cents`, `overage_block_size`, `grace_buffer_pct`.',
} as const satisfies Readonly<Record<string, string>>

/** All statements about the interface, in their order. */
export const requirements: readonly Requirement[] = Object.entries(STATEMENTS).map(
  ([id, says]) => ({ id, says }),
)
