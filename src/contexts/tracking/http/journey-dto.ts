import { Fault } from '../../../kernel/fault.js';
import { ApiProperty, Many } from '../../../platform/dto/field.js';
import { text, TIME, UUID } from '../../../platform/dto/rules.js';
import { decodeExactCursor } from '../../../platform/http/page-cursor.js';
import { Day, Filter, MAX_PAGE, PageCursor, PageSize } from '../../../platform/http/page-query.js';
import type { JourneyFilter } from '../views/journey.js';

/** What no event_name holds, and PostgreSQL cannot read. */
const CONTROL = /\p{Cc}/u;
/** Events on a page when `page_size` is not given. */
export const DEFAULT_PAGE = 100;

const eventName = text({}, (value) =>
  CONTROL.test(value) ? new Fault('must hold no control characters') : value.trim().toLowerCase(),
);

/** Query of GET /merchants/v1/users/{id}/events. */
export class JourneyQuery {
  @Filter(eventName, 'Only events of this name; letter case does not count.')
  event_name?: string;

  @Day('First day of event_datetime, in UTC.')
  event_from?: string;

  @Day('Last day, inclusive, in UTC.')
  event_to?: string;

  @PageSize(DEFAULT_PAGE, 'Events per page.')
  page_size!: number;

  @PageCursor(decodeExactCursor)
  page_cursor?: JourneyFilter['after'];
}

export function journeyFilter(query: JourneyQuery): JourneyFilter {
  return {
    ...{ eventName: query.event_name, eventFrom: query.event_from, eventTo: query.event_to },
    ...{ pageSize: query.page_size, after: query.page_cursor },
  };
}

class UserEvent {
  @ApiProperty(UUID)
  event_id!: string;

  @ApiProperty({ type: 'string', description: 'In lower case.' })
  event_name!: string;

  @ApiProperty({ ...TIME, description: 'In UTC, with milliseconds, or microseconds when it has any.' })
  event_datetime!: string;

  @ApiProperty({ type: 'string' })
  user_external_id!: string;

  @ApiProperty({ type: 'string', nullable: true })
  device_id!: string | null;

  @ApiProperty({ type: 'object', description: 'The text that was sent, byte for byte.' })
  payload!: object;

  @ApiProperty({ ...TIME, description: 'When the batch was accepted.' })
  received_at!: string;
}

export class UserEventsResponse {
  @Many(() => UserEvent, { maxItems: MAX_PAGE })
  events!: UserEvent[];

  @ApiProperty({ type: 'string', nullable: true })
  next_cursor!: string | null;
}
