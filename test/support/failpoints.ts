/** The failpoints of a keyed request, in order. */
export const REQUEST_FAILPOINTS = [
  'request.received',
  'request.authenticated',
  'command.decided',
  'commit.sent',
  'commit.done',
  'views.waited',
  'response.ready',
  'response.sent',
] as const;

/** The failpoints of an order, in order. */
export const ORDER_FAILPOINTS = [
  'order.provider_created',
  'order.claimed',
  'order.settled',
  'order.withdrawn',
  'order.polled',
  'order.observed',
] as const;

/** The failpoints of the erasure of an order's person: one of the command, then those of the worker. */
export const ORDER_ERASURE_FAILPOINTS = [
  'order.erasure_recorded',
  'order.key_dropped',
  'order.responses_dropped',
] as const;

/** The failpoints of an onboarding, in order. */
export const ONBOARDING_FAILPOINTS = [
  'onboarding.code_issued',
  'onboarding.code_sent',
  'onboarding.image_stored',
  'onboarding.applicant_created',
  'onboarding.images_uploaded',
  'onboarding.check_opened',
  'onboarding.images_deleted',
  'onboarding.identity_decided',
  'onboarding.wallet_given',
  'onboarding.cardholder_created',
  'onboarding.card_created',
  'onboarding.user_activated',
] as const;

/** The failpoints of an operation, in order. */
export const OPERATION_FAILPOINTS = [
  'operation.requested',
  'operation.approved',
  'operation.begun',
  'operation.written',
  'operation.recorded',
] as const;

/** The failpoints of a user's erasure: one of the command, then those of the worker. */
export const ERASURE_FAILPOINTS = [
  'erasure.recorded',
  'erasure.claimed',
  'erasure.key_dropped',
  'erasure.snapshots_dropped',
  'erasure.responses_dropped',
  'erasure.part_dropped',
] as const;

/** The failpoints of the worker that drops the events of an erased user. */
export const ERASED_EVENTS_FAILPOINTS = ['erasure.events_blanked', 'erasure.batch_rewritten'] as const;
