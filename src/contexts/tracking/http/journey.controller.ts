import { Controller, Get } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import { ListQuery, MerchantId, UuidParam } from '../../../platform/http/decorators.js';
import { Reply } from '../../../platform/http/reply.js';
import { Operation } from '../../../platform/openapi/operation.js';
import { UsersView } from '../../users/contract.js';
import { JourneyView, NO_EVENTS } from '../views/journey.js';
import { journeyFilter, JourneyQuery, UserEventsResponse } from './journey-dto.js';

/**
 * GET /merchants/v1/users/{id}/events (contract.md 17.9): the events that carry the user's
 * external_id, from before and after the user was created.
 */
@Controller('merchants/v1/users')
export class JourneyController {
  constructor(
    private readonly users: UsersView,
    private readonly journeys: JourneyView,
  ) {}

  @Get(':id/events')
  @Operation({
    id: 'listUserEvents',
    tag: 'Events',
    summary: 'List the events of a user, newest first',
    description:
      'An extension. All events whose user_external_id is the external_id of the user, from before and after the user was created, in the order of event_datetime. Batches are processed after their 202, so that an event shows up a moment later. A user without external_id has no events. With event_name, or with more than 4 MiB of payloads, a page may hold fewer events than page_size; the list is exhausted when next_cursor is null.',
    responses: {
      200: [UserEventsResponse, 'One page.'],
      400: 'A filter, page_size or page_cursor is invalid; detail names it.',
      404: 'The merchant has no such user.',
    },
  })
  async get(
    @MerchantId() merchantId: string,
    @UuidParam('id', 'User') userId: string,
    @ListQuery() query: JourneyQuery,
  ): Promise<Reply> {
    const user = await this.users.find(merchantId, userId);
    if (user === null) throw DomainError.notFound('User');
    if (user.externalId === null) return new Reply(200, NO_EVENTS);
    return new Reply(200, await this.journeys.page(merchantId, user.externalId, journeyFilter(query)));
  }
}
