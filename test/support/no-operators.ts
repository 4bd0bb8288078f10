import { Global, Module } from '@nestjs/common';
import { AdminUsers, OnboardingProgress } from '../../src/contexts/users/contract.js';
import { AdminCallers } from '../../src/platform/http/admin/admin-controller.js';
import { PortalCallers } from '../../src/platform/http/admin/portal-controller.js';
import { KeyedRequests } from '../../src/platform/http/keyed-requests.js';
import { OperatorLookups } from '../../src/platform/operations/operator-lookups.js';
import { Operations } from '../../src/platform/operations/operations.js';

const ABSENT = [
  AdminCallers,
  PortalCallers,
  Operations,
  OperatorLookups,
  AdminUsers,
  OnboardingProgress,
  KeyedRequests,
];

/** For a part of the service without the contexts of operators: their listeners get no requests. */
@Global()
@Module({ providers: ABSENT.map((provide) => ({ provide, useValue: {} })), exports: ABSENT })
export class NoOperators {}
