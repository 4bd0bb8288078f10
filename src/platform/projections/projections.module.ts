import { Global, Module } from '@nestjs/common';
import { Checkpoints } from './checkpoints.js';
import { PassingTypes } from './passing-types.js';
import { ReadModelRebuild } from './read-model-rebuild.js';
import { SubscriptionLag } from './subscription-lag.js';
import { SubscriptionRegistry } from './subscription-registry.js';
import { SubscriptionRunner } from './subscription-runner.js';
import { SubscriptionProgress } from './subscription-progress.js';

const PROVIDERS = [
  Checkpoints,
  PassingTypes,
  SubscriptionRegistry,
  SubscriptionRunner,
  SubscriptionLag,
  ReadModelRebuild,
  SubscriptionProgress,
];

@Global()
@Module({ providers: PROVIDERS, exports: PROVIDERS })
export class ProjectionsModule {}
