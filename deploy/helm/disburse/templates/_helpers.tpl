{{/* Names of everything begin with it. 40 characters leave room for the longest suffix; a hash keeps long names apart. */}}
{{- define "disburse.fullname" -}}
{{- $name := .Values.fullnameOverride }}
{{- if not $name }}
{{- $name = ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) }}
{{- end }}
{{- if gt (len $name) 40 }}
{{- $name = printf "%s-%s" (trunc 31 $name | trimSuffix "-") (sha256sum $name | trunc 8) }}
{{- end }}
{{- $name }}
{{- end }}

{{/* Of the pods of the release, and of what selects them: nothing here may change in an upgrade. */}}
{{- define "disburse.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "disburse.labels" -}}
{{ include "disburse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* Helm reads every number as a float, which would print 10000000 as 1e+07. */}}
{{- define "disburse.text" -}}
{{- if kindIs "float64" . }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{/* The variables of the ConfigMap. */}}
{{- define "disburse.settings" -}}
{{- $settings := dict }}
{{- $hosts := dict "PUBLIC_URL" "api" "WIDGET_URL" "widget" "PAY_URL" "pay" "PORTAL_URL" "portal" }}
{{- range $name, $host := $hosts }}
{{- with and $.Values.ingress.enabled (index $.Values.ingress.hosts $host) }}
{{- $_ := set $settings $name (printf "https://%s" .) }}
{{- end }}
{{- end }}
{{- with and .Values.adminIngress.enabled .Values.adminIngress.host }}
{{- $_ := set $settings "ADMIN_URL" (printf "https://%s" .) }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{- $_ := set $settings $name (include "disburse.text" $value) }}
{{- end }}
{{- $_ := required "settings.PUBLIC_URL must be set, or ingress.hosts.api: the service does not start without it" $settings.PUBLIC_URL }}
{{- if and (or .Values.ingress.enabled .Values.adminIngress.enabled) (not $settings.TRUST_PROXY) }}
{{- fail "settings.TRUST_PROXY must name the addresses of the ingress controller: without it every client has its address, and no request came over HTTPS" }}
{{- end }}
{{- toYaml $settings }}
{{- end }}

{{- define "disburse.secretName" -}}
{{- if not (or .Values.secret.name .Values.secret.external.enabled) }}
{{- fail "secret.name must name a Secret with DATABASE_URL, MASTER_KEY and CHAIN_RPC_URL, or secret.external must be enabled" }}
{{- end }}
{{- .Values.secret.name | default (include "disburse.fullname" .) }}
{{- end }}

{{/* repository@digest or repository:tag; a process's own tag or digest is in place of both. */}}
{{- define "disburse.image" -}}
{{- $own := .process.image | default dict }}
{{- $image := .root.Values.image }}
{{- $version := ternary $own $image (or $own.tag $own.digest | not | not) }}
{{- if $version.digest -}}
{{ $image.repository }}@{{ $version.digest }}
{{- else -}}
{{ $image.repository }}:{{ $version.tag | default .root.Chart.AppVersion }}
{{- end }}
{{- end }}

{{/* The ports of a role by their names. */}}
{{- define "disburse.ports" -}}
{{- $ports := dict "api" (dict "api" 3000) "widget" (dict "widget" 3001 "pay" 3002) "admin" (dict "admin" 3003) "portal" (dict "portal" 3004) }}
{{- toYaml (index $ports . | default dict) }}
{{- end }}

{{/* Roles that some process has, in the order of docs/configuration.md. */}}
{{- define "disburse.roles" -}}
{{- $roles := list }}
{{- range .Values.processes }}{{ $roles = concat $roles .roles }}{{ end }}
{{- $found := list }}
{{- range list "api" "worker" "widget" "admin" "portal" }}
{{- if has . $roles }}{{ $found = append $found . }}{{ end }}
{{- end }}
{{- join "," $found }}
{{- end }}

{{/* What the service may take after SIGTERM, and the seconds before it. */}}
{{- define "disburse.preStopSeconds" -}}5{{- end }}
{{- define "disburse.graceSeconds" -}}
{{- $drain := div (.Values.settings.SHUTDOWN_GRACE_MS | default 30000 | int64) 1000 }}
{{- max 40 (add $drain 10 (include "disburse.preStopSeconds" . | int)) }}
{{- end }}

{{/* What pods of processes and of the migration have in common: around `container`, the lines of it that differ. */}}
{{- define "disburse.pod" -}}
{{- $root := .root -}}
automountServiceAccountToken: false
# Variables such as ADMIN_PORT=tcp://..., of any Service named admin, would be settings.
enableServiceLinks: false
serviceAccountName: {{ include "disburse.fullname" $root }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.pod.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $root.Values.pod.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.pod.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: tmp
    emptyDir: { sizeLimit: 64Mi }
  {{- with $root.Values.pod.volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
containers:
  - name: {{ .name }}
    image: {{ include "disburse.image" . }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    {{- .container | nindent 4 }}
    envFrom:
      - configMapRef: { name: {{ include "disburse.fullname" $root }} }
      - secretRef: { name: {{ include "disburse.secretName" $root }} }
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
    {{- with .process.resources }}
    resources: {{- toYaml . | nindent 6 }}
    {{- end }}
    volumeMounts:
      - name: tmp
        mountPath: /tmp
      {{- with $root.Values.pod.volumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
{{- end }}
