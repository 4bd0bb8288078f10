import { Controller, Get } from '@nestjs/common';
import { Fault } from '../../../kernel/fault.js';
import { tidy } from '../../../kernel/typed-text.js';
import { ApiProperty, PageOf } from '../../../platform/dto/field.js';
import { text, TIME, uuid, UUID } from '../../../platform/dto/rules.js';
import { Day, Filter, MAX_PAGE, PageCursor, PageSize } from '../../../platform/http/list-query.js';
import { DomainError } from '../../../kernel/domain-error.js';
import { PortalController, PortalScopes } from '../../../platform/http/admin/portal.guard.js';
import { ListQuery, MerchantId, UuidParam } from '../../../platform/http/decorators.js';
import { ApiRoute } from '../../../platform/openapi/route.js';
import { UsersView } from '../../users/users.contract.js';
import { JourneyView, type JourneyFilter } from './journey.view.js';

const CONTROL = /\p{Cc}/u;
export const DEFAULT_PAGE = 100;

const eventName = text({}, (value) =>
  CONTROL.test(value) ? new Fault('must not contain control characters') : value.trim().toLowerCase(),
);

class JourneyQuery implements JourneyFilter {
  @Filter(eventName, 'Only events of this name; letter case does not count.') event_name?: string;
  @Day('First day of event_datetime, in UTC.') event_from?: string;
  @Day('Last day, inclusive, in UTC.') event_to?: string;
  @PageSize(DEFAULT_PAGE, 'Events per page.') page_size!: number;

  @PageCursor()
  page_cursor?: JourneyFilter['page_cursor'];
}

class UserEvent {
  @ApiProperty(UUID) event_id!: string;
  @ApiProperty({ type: 'string', description: 'In lower case.' }) event_name!: string;

  @ApiProperty({ ...TIME, description: 'In UTC, with milliseconds, or microseconds when it has any.' })
  event_datetime!: string;

  @ApiProperty({ type: 'string' }) user_external_id!: string;
  @ApiProperty({ type: 'string', nullable: true }) device_id!: string | null;
  @ApiProperty({ type: 'object', description: 'The text that was sent, byte for byte.' }) payload!: object;
  @ApiProperty({ ...TIME, description: 'When the batch was accepted.' }) received_at!: string;
}

class UserEventsResponse extends PageOf('events', UserEvent, { maxItems: MAX_PAGE }) {}

@Controller('merchants/v1/users')
export class JourneyController {
  constructor(
    private readonly users: UsersView,
    private readonly journeys: JourneyView,
  ) {}

  @Get(':id/events')
  @ApiRoute({
    id: 'listUserEvents',
    tag: 'Events',
    summary: 'List the events of a user, newest first',
    description:
      'An extension. All events whose user_external_id is the external_id of the user, from before and after the user was created, in the order of event_datetime. Batches are processed after their 202, so that an event appears shortly after. A user without external_id has no events. With event_name, or with more than 4 MiB of payloads, a page may hold fewer events than page_size; the list is exhausted when next_cursor is null.',
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
  ): Promise<string> {
    const { external_id } = await this.users.get(merchantId, userId);
    return this.journeys.page(merchantId, external_id, query);
  }
}

class PortalEventsQuery extends JourneyQuery {
  @Filter(uuid, 'The journey of this user.') user_id?: string;
  @Filter(text({ minLength: 1 }, tidy), 'The journey of this user, as the events call it.')
  user_external_id?: string;
}

@PortalController('events')
export class PortalEventsController {
  constructor(
    private readonly users: UsersView,
    private readonly journeys: JourneyView,
  ) {}

  @Get()
  @PortalScopes('events:read')
  async list(@MerchantId() merchantId: string, @ListQuery() query: PortalEventsQuery): Promise<string> {
    const { user_id: userId, user_external_id: named } = query;
    if (userId === undefined && named === undefined)
      throw new DomainError('bad_request', 'user_id or user_external_id is required');
    const externalId = userId === undefined ? named! : (await this.users.get(merchantId, userId)).external_id;
    return this.journeys.page(merchantId, externalId, query);
  }
}
