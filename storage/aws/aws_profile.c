/* storage/aws/aws_profile.c - a profile, out of the texts of credentials and config file. */
#include "storage/aws/aws_profile.h"

#include "base/error.h"
#include "base/system.h"
#include "storage/aws/aws_ini.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What is being read: a section of a file. */
struct reading {
    const struct aws_file *file;
    const char *kind, *name; /* "profile", "services" or "" before the name; */
    struct aws_profile *profile;
    struct aws_keys keys; /* of this file */
    char services[AWS_NAME_BYTES];
    struct setting {
        const char *name; /* NULL: it is not there */
        uint64_t line;
    } role, role_by, sso, process; /* that keys come from elsewhere */
};

static bool is(struct bytes b, const char *text)
{
    return b.n == strlen(text) && strncasecmp((const char *)b.p, text, b.n) == 0;
}

/* "profile NAME", "profile "NAME"", in the config file also "default" alone. */
static bool is_section(struct bytes section, const char *kind, const char *name)
{
    if (kind[0] != '\0') {
        const struct bytes word = text_word(&section);
        if (section.n == 0 && strcmp(kind, "profile") == 0 && strcmp(name, "default") == 0)
            return word.n == 7 && memcmp(word.p, "default", 7) == 0;
        if (word.n != strlen(kind) || memcmp(word.p, kind, word.n) != 0)
            return false;
        section = text_trim(section);
    }
    if (section.n >= 2 && section.p[0] == '"' && section.p[section.n - 1] == '"')
        section = (struct bytes){section.p + 1, section.n - 2};
    return section.n == strlen(name) && memcmp(section.p, name, section.n) == 0;
}

/* ---- values ------------------------------------------------------------------------------ */

struct place {
    char s[320];
};

static struct place place_of(const struct reading *r, const struct aws_ini_value *v)
{
    struct place p;
    (void)snprintf(p.s, sizeof(p.s), "%.280s line %" PRIu64, r->file->name, v->line);
    return p;
}

static enum imrec_status
take_text(struct reading *r, const struct aws_ini_value *v, bool *taken, struct imrec_error *err)
{
    struct aws_keys *k = &r->keys;
    struct aws_role *role = &r->profile->role;
    const struct {
        const char *name;
        char *to;
        size_t room;
    } parts[] = {{"aws_access_key_id", k->access_key, sizeof(k->access_key)},
                 {"aws_secret_access_key", k->secret, sizeof(k->secret)},
                 {"aws_session_token", k->token, sizeof(k->token)},
                 {"aws_security_token", k->token, sizeof(k->token)},
                 {"role_arn", role->arn, sizeof(role->arn)},
                 {"role_session_name", role->session, sizeof(role->session)},
                 {"external_id", role->external_id, sizeof(role->external_id)},
                 {"web_identity_token_file", role->token_file, sizeof(role->token_file)},
                 {"source_profile", role->source, sizeof(role->source)}};
    *taken = false;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!is(v->name, parts[i].name))
            continue;
        *taken = true;
        return aws_key_copy(parts[i].to, parts[i].room, (const char *)v->value.p, v->value.n,
                            place_of(r, v).s, parts[i].name, err);
    }
    return IMREC_OK;
}

static enum imrec_status
take_addressing(struct reading *r, const struct aws_ini_value *v, struct imrec_error *err)
{
    if (is(v->value, "path"))
        r->profile->addressing = AWS_ADDRESSING_PATH;
    else if (is(v->value, "virtual"))
        r->profile->addressing = AWS_ADDRESSING_VIRTUAL;
    else if (is(v->value, "auto"))
        r->profile->addressing = AWS_ADDRESSING_AUTO;
    else
        return IMREC_REFUSE(err, "%s: addressing_style must be path, virtual or auto",
                            place_of(r, v).s);
    return IMREC_OK;
}

static void take_elsewhere(struct reading *r, const struct aws_ini_value *v)
{
    const struct {
        const char *name, *shown;
        struct setting *to;
    } all[] = {{"role_arn", "role_arn without source_profile", &r->role},
               {"mfa_serial", "mfa_serial", &r->role_by},
               {"credential_source", "credential_source", &r->role_by},
               {"sso_session", "sso_session", &r->sso},
               {"sso_start_url", "sso_session", &r->sso},
               {"credential_process", "credential_process", &r->process}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (is(v->name, all[i].name))
            *all[i].to = (struct setting){all[i].shown, v->line};
}

static enum imrec_status
take_of_profile(struct reading *r, const struct aws_ini_value *v, struct imrec_error *err)
{
    const char *value = (const char *)v->value.p;
    bool taken;
    r->profile->found = true; /* also if it is empty: its name comes without a value */
    if (is(v->parent, "s3") && is(v->name, "addressing_style"))
        return take_addressing(r, v, err);
    if (v->parent.n != 0 || v->value.n == 0)
        return IMREC_OK;
    take_elsewhere(r, v);
    IMREC_TRY(take_text(r, v, &taken, err));
    if (taken)
        return IMREC_OK;
    if (is(v->name, "region"))
        return aws_region_copy(r->profile->region, value, v->value.n, place_of(r, v).s, err);
    if (is(v->name, "endpoint_url"))
        return aws_endpoint_copy(r->profile->endpoint, value, v->value.n, place_of(r, v).s, err);
    if (is(v->name, "services"))
        return aws_key_copy(r->services, sizeof(r->services), value, v->value.n, place_of(r, v).s,
                            "services", err);
    return IMREC_OK;
}

static enum imrec_status
take_of_services(struct reading *r, const struct aws_ini_value *v, struct imrec_error *err)
{
    if (is(v->parent, "s3") && is(v->name, "endpoint_url"))
        return aws_endpoint_copy(r->profile->endpoint, (const char *)v->value.p, v->value.n,
                                 place_of(r, v).s, err);
    return IMREC_OK;
}

/* ---- files ------------------------------------------------------------------------------- */

typedef enum imrec_status
take_fn(struct reading *r, const struct aws_ini_value *v, struct imrec_error *err);

static enum imrec_status read_file(struct reading *r, take_fn *take, struct imrec_error *err)
{
    struct aws_ini ini;
    struct aws_ini_value v;
    enum imrec_status st;
    aws_ini_begin(&ini, r->file->name, r->file->text);
    while ((st = aws_ini_next(&ini, &v, err)) == IMREC_OK)
        if (is_section(v.section, r->kind, r->name))
            IMREC_TRY(take(r, &v, err));
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status check_pair(const struct reading *r, struct imrec_error *err)
{
    static const char id[] = "aws_access_key_id", secret[] = "aws_secret_access_key";
    const bool has = r->keys.access_key[0] != '\0';
    if (has != (r->keys.secret[0] != '\0'))
        return IMREC_REFUSE(err, "%s: the profile has %s and no %s; both are needed", r->file->name,
                            has ? id : secret, has ? secret : id);
    return IMREC_OK;
}

/* A setting of the file that goes before the profile's keys and cannot be followed; NULL: none. */
static const struct setting *
elsewhere_of(const struct reading *r, const struct aws_profile *p, bool keys)
{
    if (p->role.arn[0] != '\0') {
        if (r->role_by.name != NULL)
            return &r->role_by;
        const bool alone = p->role.source[0] == '\0' && p->role.token_file[0] == '\0';
        return alone && r->role.name != NULL ? &r->role : NULL;
    }
    if (r->sso.name != NULL)
        return &r->sso;
    return r->process.name != NULL && !keys ? &r->process : NULL;
}

/* Which of them counts, in the order of AWS's tools. */
static void
choose(struct aws_profile *p, const struct reading *credentials, const struct reading *config)
{
    const struct reading *const files[] = {config, credentials};
    const bool keys = credentials->keys.access_key[0] != '\0';
    p->keys = keys ? credentials->keys : config->keys;
    p->keys.ends = AWS_FOR_EVER;
    for (int i = 0; i < 2 && p->elsewhere == NULL; i++) {
        const struct setting *s = elsewhere_of(files[i], p, keys);
        if (s == NULL)
            continue;
        p->elsewhere = s->name;
        p->elsewhere_file = files[i]->file->name;
        p->elsewhere_line = s->line;
    }
}

static enum imrec_status read_both(struct reading *credentials, struct reading *config,
                                   struct aws_profile *out, struct imrec_error *err)
{
    IMREC_TRY(read_file(config, take_of_profile, err));
    IMREC_TRY(check_pair(config, err));
    IMREC_TRY(read_file(credentials, take_of_profile, err));
    IMREC_TRY(check_pair(credentials, err));
    choose(out, credentials, config);
    if (config->services[0] == '\0')
        return IMREC_OK;
    config->kind = "services"; /* an endpoint of one service goes before one of all */
    config->name = config->services;
    return read_file(config, take_of_services, err);
}

enum imrec_status aws_profile_read(const struct aws_files *files, const char *name,
                                   struct aws_profile *out, struct imrec_error *err)
{
    struct reading credentials = {
        .file = &files->credentials, .kind = "", .name = name, .profile = out};
    struct reading config = {
        .file = &files->config, .kind = "profile", .name = name, .profile = out};
    memset(out, 0, sizeof(*out));
    const enum imrec_status st = read_both(&credentials, &config, out, err);
    system_wipe(&credentials, sizeof(credentials));
    system_wipe(&config, sizeof(config));
    return st;
}
