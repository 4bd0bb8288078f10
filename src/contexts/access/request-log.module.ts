import { Global, Module } from '@nestjs/common';
import { RequestLog } from '../../platform/http/request-log.js';
import { BufferedRequestLog } from './application/request-log.js';
import { RequestPartitions } from './store/request-partitions.js';
import { RequestTable } from './store/request-table.js';
import { LoggedRequests } from './views/logged-requests.js';

/** The requests of merchants (docs/adr/0178). The edge records into its {@link RequestLog}. */
@Global()
@Module({
  providers: [
    RequestTable,
    RequestPartitions,
    LoggedRequests,
    BufferedRequestLog,
    { provide: RequestLog, useExisting: BufferedRequestLog },
  ],
  exports: [RequestLog, LoggedRequests],
})
export class RequestLogModule {}
