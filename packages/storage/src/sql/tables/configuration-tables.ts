import { recordColumns, type TablesOf } from './table.ts'

/** Tables of what a project contains. */
export const CONFIGURATION_TABLES: TablesOf<
  | 'project'
  | 'environment'
  | 'flag'
  | 'flagState'
  | 'variation'
  | 'targetingRule'
  | 'segment'
  | 'rollout'
  | 'scheduledChange'
  | 'sdkKey'
> = {
  project: {
    name: 'ff_project',
    columns: {
      id: 'text',
      orgId: 'text',
      key: 'text',
      name: 'text',
      description: 'text',
      newFlagsClientVisible: 'boolean',
      ...recordColumns,
    },
  },
  environment: {
    name: 'ff_environment',
    columns: {
      id: 'text',
      projectId: 'text',
      key: 'text',
      name: 'text',
      isDefault: 'boolean',
      contextPrivacy: 'text',
      ...recordColumns,
    },
  },
  flag: {
    name: 'ff_flag',
    columns: {
      id: 'text',
      projectId: 'text',
      key: 'text',
      name: 'text',
      description: 'text',
      type: 'text',
      tags: 'json',
      clientVisible: 'boolean',
      archivedAt: 'text',
      lastEvaluatedAt: 'text',
      ...recordColumns,
    },
  },
  flagState: {
    name: 'ff_flag_state',
    columns: {
      id: 'text',
      flagId: 'text',
      environmentId: 'text',
      projectId: 'text',
      isActive: 'boolean',
      defaultVariationId: 'text',
      offVariationId: 'text',
      targets: 'json',
      prerequisites: 'json',
      ...recordColumns,
    },
  },
  variation: {
    name: 'ff_variation',
    columns: {
      id: 'text',
      flagId: 'text',
      projectId: 'text',
      key: 'text',
      name: 'text',
      description: 'text',
      value: 'text',
      isDefault: 'boolean',
      orderIndex: 'integer',
      ...recordColumns,
    },
  },
  targetingRule: {
    name: 'ff_targeting_rule',
    columns: {
      id: 'text',
      flagId: 'text',
      environmentId: 'text',
      projectId: 'text',
      name: 'text',
      kind: 'text',
      conditions: 'json',
      segmentId: 'text',
      variationId: 'text',
      rolloutId: 'text',
      orderIndex: 'integer',
      ...recordColumns,
    },
  },
  segment: {
    name: 'ff_segment',
    columns: {
      id: 'text',
      projectId: 'text',
      key: 'text',
      name: 'text',
      description: 'text',
      rules: 'json',
      logicalOp: 'text',
      force: 'boolean',
      keyAttribute: 'text',
      includedCount: 'integer',
      excludedCount: 'integer',
      ...recordColumns,
    },
  },
  rollout: {
    name: 'ff_rollout',
    columns: {
      id: 'text',
      flagId: 'text',
      environmentId: 'text',
      projectId: 'text',
      name: 'text',
      strategy: 'text',
      bucketBy: 'text',
      salt: 'text',
      scheme: 'text',
      variationId: 'text',
      percentage: 'real',
      variants: 'json',
      targetPercentage: 'real',
      increment: 'real',
      intervalHours: 'real',
      startAt: 'text',
      ranges: 'json',
      previousRanges: 'json',
      ...recordColumns,
    },
  },
  scheduledChange: {
    name: 'ff_scheduled_change',
    columns: {
      id: 'text',
      flagId: 'text',
      environmentId: 'text',
      projectId: 'text',
      applyAt: 'text',
      operation: 'text',
      targetId: 'text',
      body: 'json',
      status: 'text',
      appliedAt: 'text',
      failure: 'text',
      createdBy: 'json',
      ...recordColumns,
    },
  },
  sdkKey: {
    name: 'ff_sdk_key',
    columns: {
      id: 'text',
      environmentId: 'text',
      projectId: 'text',
      name: 'text',
      kind: 'text',
      prefix: 'text',
      hash: 'text',
      expiresAt: 'text',
      revokedAt: 'text',
      rateLimit: 'integer',
      lastUsedAt: 'text',
      ...recordColumns,
    },
  },
}
