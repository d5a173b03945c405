# lt_audit_embed(target FILE SYMBOL): a file of any size as a std::string_view lt_audit::embedded::SYMBOL, and its SHA-256 in Base64,
# as a content security policy takes it, as SYMBOL_sha256.
function(lt_audit_embed target file symbol)
  get_filename_component(path ${file} ABSOLUTE)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${symbol}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${path} -DOUTPUT=${output} -DSYMBOL=${symbol} -P ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake
    DEPENDS ${path} ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
